import ExecutionContextsTesting
package import Testing

/// Runs the tests as elsewhere, and then once more under many schedules.
package struct AlsoSimulated: TestTrait, SuiteTrait, TestScoping {
    let schedules: Int

    package var isRecursive: Bool { true }

    package func provideScope(
        for test: Test, testCase: Test.Case?, performing function: @Sendable () async throws -> Void
    ) async throws {
        try await function()
        guard testCase != nil else { return }
        await withoutActuallyEscaping(function) { function in
            // A thread of the search may free its closure later, but not what is in the box.
            let body = Box<(@Sendable () async throws -> Void)?>(function)
            defer { body.value = nil }
            let report = await search(
                test.name, schedules: schedules, steps: 1_000_000, patience: Patience.step,
                ignoring: [.vacuous]
            ) {
                _ in try await body.value?()
            }
            if let failure = report.failure { Issue.record(failure) }
        }
    }
}

extension Trait where Self == AlsoSimulated {
    package static var alsoSimulated: Self { .alsoSimulated(rounds(debug: 30, release: 100)) }
    package static func alsoSimulated(_ schedules: Int) -> Self { Self(schedules: schedules) }
}
