public import ExecutionContextsTesting
public import Testing

/// Searches the interleavings of a test's tasks and threads for one in which the test fails.
///
/// The test's function is the program: it runs once for each schedule. What makes a schedule fail
/// is what makes the test fail: `#expect`, `#require`, a thrown error, a confirmation. So do the
/// failures of `search`: a task that nothing resumes, a deadlock, a data race that the mode sees.
///
/// ```swift
/// import ExecutionContextsSearch
/// import Testing
///
/// @Test(.searched) func someFiveAreCounted() async {
///     let stream = AsyncStream { continuation in
///         for number in 1...5 { continuation.yield(number) }
///         continuation.finish()
///     }
///     async let numbers = stream.reduce(0) { count, _ in count + 1 }
///     #expect(await numbers == 5)
/// }
/// ```
///
/// A failure is recorded once, where it is in the test. Its first issue has the story of the
/// schedule, and the token that replays it. On a suite the trait applies to all tests in it; the
/// trait of a test has precedence.
public struct SearchedTrait: TestTrait, SuiteTrait, TestScoping {
    var settings: SearchSettings
    let place = Place()

    public var isRecursive: Bool { true }

    public func scopeProvider(for test: Test, testCase: Test.Case?) -> Self? {
        // A test's function has one scope for each of its cases, and none around all of them.
        test.isSuite || testCase != nil ? self : nil
    }

    public func provideScope(
        for test: Test, testCase: Test.Case?, performing function: @Sendable () async throws -> Void
    ) async throws {
        guard let testCase else { return try await place.asSuite(test, function) }
        guard isClosest(of: test.traits) else { return try await function() }
        if let obstacle = obstacleToSearches { return try await runOnce(test, obstacle, function) }
        switch await SearchedCase(test, testCase, settings).run(function) {
        case .impossible(let obstacle): try await runOnce(test, obstacle, function)
        case .vacuous(let failure) where !place.takes(test.name):
            Issue.record("\(failure)", sourceLocation: test.sourceLocation)
        case .vacuous, nil: break
        }
    }

    /// Runs a test that cannot be searched, and says so.
    private func runOnce(
        _ test: Test, _ obstacle: String, _ function: @Sendable () async throws -> Void
    ) async throws {
        Issue.record(
            "'\(test.name)' runs once and is not searched, since \(obstacle).",
            severity: SearchSettings.mustSearch ? .error : .warning,
            sourceLocation: test.sourceLocation)
        try await function()
    }

    /// Whether it has the test: of several such traits, the last one is the closest to the test.
    func isClosest(of traits: [any Trait]) -> Bool {
        let last = traits.last { $0 is Self } as? Self
        return last.map { $0.place === place } ?? true
    }

    /// Where the trait is: on a test, or on a suite whose tests have it as well.
    final class Place: Sendable {
        private struct State {
            var suites = 0
            var names: Set<String> = []
        }

        private let state = Locked(State())

        /// Runs a suite, and reports in one line for which of its tests a search shows nothing.
        func asSuite(_ suite: Test, _ function: @Sendable () async throws -> Void) async throws {
            state.withLock { $0.suites += 1 }
            defer { end(suite) }
            try await function()
        }

        private func end(_ suite: Test) {
            let names = state.withLock { state in
                state.suites -= 1
                guard state.suites == 0 else { return [String]() }
                defer { state.names = [] }
                return state.names.sorted()
            }
            guard !names.isEmpty else { return }
            let count = "\(names.count) test\(names.count == 1 ? "" : "s")"
            let list = names.joined(separator: ", ")
            Issue.record(
                "The searches of \(count) of '\(suite.name)' show nothing about orders: \(list).",
                severity: .warning, sourceLocation: suite.sourceLocation)
        }

        /// Whether a suite has the trait, which then reports a search that has shown nothing.
        func takes(_ name: String) -> Bool {
            state.withLock { state in
                if state.suites > 0 { state.names.insert(name) }
                return state.suites > 0
            }
        }
    }
}

extension Trait where Self == SearchedTrait {
    /// Searches 1,000 schedules of a test for one in which it fails.
    public static var searched: Self { .searched() }

    /// Searches schedules of a test for one in which it fails.
    ///
    /// - Parameters:
    ///   - schedules: how many schedules to try at most.
    ///   - seed: the seed of every random decision of the strategy.
    ///   - strategy: how the schedules are chosen.
    ///   - time: when simulated time advances.
    ///   - token: a token of a failure, to run only that schedule.
    ///   - steps: how many steps a schedule may take, before the threads run in turn.
    ///   - patience: how long, in real time, a thread may make no progress before it counts as
    ///     blocked.
    ///   - ignoring: kinds of failures to ignore.
    public static func searched(
        schedules: Int = 1_000, seed: UInt64 = 0, strategy: SimulationStrategy = .portfolio,
        time: SimulationTime = .whenIdle, replay token: String? = nil, steps: Int = 20_000,
        patience: Duration = .seconds(10), ignoring: Set<SimulationFailure.Kind> = []
    ) -> Self {
        SearchedTrait(
            settings: SearchSettings(
                schedules: schedules, seed: seed, strategy: strategy, time: time, replay: token,
                steps: steps, patience: patience, ignoring: ignoring))
    }
}
