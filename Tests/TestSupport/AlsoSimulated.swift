#if HasHooks
import ExecutionContextsSearch
import ExecutionContextsTesting
package import Testing

/// Runs the tests as elsewhere, and then once more under many schedules.
package struct AlsoSimulated: TestTrait, SuiteTrait, TestScoping {
    let searched: SearchedTrait

    package var isRecursive: Bool { true }

    package func provideScope(
        for test: Test, testCase: Test.Case?, performing function: @Sendable () async throws -> Void
    ) async throws {
        try await function()
        guard testCase != nil else { return }
        try await searched.provideScope(for: test, testCase: testCase, performing: function)
    }
}

extension Trait where Self == AlsoSimulated {
    package static var alsoSimulated: Self { .alsoSimulated(rounds(debug: 30, release: 100)) }
    package static func alsoSimulated(_ schedules: Int) -> Self {
        Self(
            searched: .searched(
                schedules: schedules, steps: 1_000_000, patience: Patience.step,
                ignoring: [.vacuous]))
    }
}
#endif
