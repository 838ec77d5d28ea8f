internal import ExecutionContextsTesting
internal import Testing

/// The search of one case of a test.
struct SearchedCase {
    let test: Test
    let testCase: Test.Case
    let settings: SearchSettings
    private let issues = CapturedIssues()

    init(_ test: Test, _ testCase: Test.Case, _ settings: SearchSettings) {
        (self.test, self.testCase, self.settings) = (test, testCase, settings)
    }

    /// Why a search says nothing about the test.
    enum Silence {
        /// There was nothing to search.
        case vacuous(SimulationFailure)
        /// The test cannot be searched, for this reason.
        case impossible(String)
    }

    /// Searches, and records what was found, unless the search says nothing.
    func run(_ function: @Sendable () async throws -> Void) async -> Silence? {
        let result = Locked<SimulationReport?>(nil)
        await replacingIssues {
            // An issue without a task's configuration is posted to each handler of the process.
            Test.current?.id == test.id ? issues.take($0) : $0
        } during: {
            let report = await search(function)
            result.withLock { $0 = report }
        }
        // The scope of the handler runs what it is given.
        let report = result.withLock { $0! }
        if let failure = report.failure, failure.waitsForExitTest {
            return .impossible("its exit test waits for another process")
        }
        for issue in issues.others { await record(issue) }
        if let failure = report.failure, failure.kind != .vacuous {
            if failure.kind != .blocked { await record(failure) }
            return nil
        }
        let failures = issues.firstFailures
        for issue in failures { await record(issue) }
        guard failures.isEmpty else { return nil }
        if report.failure == nil, !report.met.isEmpty {
            Issue.record(
                "The search of '\(test.name)' found nothing. \(report.met.text).",
                severity: .warning, sourceLocation: test.sourceLocation)
        }
        return report.failure.map(Silence.vacuous)
    }

    private func search(_ function: @Sendable () async throws -> Void) async -> SimulationReport {
        let issues = issues
        return await ExecutionContextsTesting.search(
            lending: function, to: name, schedules: settings.schedules,
            strategy: settings.strategy, time: settings.time, replay: settings.token,
            seed: settings.seed, steps: settings.steps, patience: settings.patience,
            ignoring: settings.ignoring
        ) { report in
            // At once: the thread may never go on.
            issues.end()
            if let failure = report.failure { await record(failure) }
        } _: { world, function in
            issues.begin()
            // A task may record an issue after the test's function has returned.
            world.finally("the test records no issue") { !issues.hasFailures }
            do {
                try await function()
            } catch {
                issues.keep(error)
                throw error
            }
            if issues.hasFailures { throw RecordedIssues(count: issues.failures.count) }
        }
    }

    /// The name of the search, to which its tokens belong: of the suites and the test, and what the
    /// test is passed.
    private var name: String {
        // "Module.Suite/test()/File.swift:1:2"
        let parts = "\(test.id)".split(separator: "/").filter { !$0.contains(".swift:") }
        let path = parts.joined(separator: "/")
        let values = Self.arguments(of: testCase)
        return values.isEmpty ? path : "\(path) with \(values.joined(separator: ", "))"
    }

    /// The arguments of a case. The testing library shows them only to a mirror.
    private static func arguments(of value: Any, depth: Int = 3) -> [String] {
        for child in Mirror(reflecting: value).children {
            if child.label == "arguments" {
                return Mirror(reflecting: child.value).children.map { argument in
                    let value = Mirror(reflecting: argument.value).descendant("value")
                    return String(describingForTest: value ?? argument.value)
                }
            }
            guard depth > 0 else { continue }
            let found = arguments(of: child.value, depth: depth - 1)
            if !found.isEmpty { return found }
        }
        return []
    }

    /// Records the failure where the test has it: its issues, or the error that it has thrown.
    private func record(_ failure: SimulationFailure) async {
        let story = Comment(rawValue: failure.description)
        var failures = issues.failures
        guard [.threw, .invariant].contains(failure.kind), !failures.isEmpty || issues.error != nil
        else {
            Issue.record(story, sourceLocation: test.sourceLocation)
            for issue in failures { await record(issue) }
            return
        }
        if failures.isEmpty, let error = issues.error {
            Issue.record(error, story, sourceLocation: test.sourceLocation)
            return
        }
        failures[0].comments.append(story)
        for issue in failures { await record(issue) }
    }

    /// Records an issue that the test has recorded before.
    private func record(_ issue: Issue) async {
        await replacingIssues { _ in
            issue
        } during: {
            Issue.record()
        }
    }

    private func replacingIssues(
        _ replacement: @escaping @Sendable (Issue) -> Issue?,
        during body: @Sendable () async -> Void
    ) async {
        // It throws what the closure throws.
        try? await IssueHandlingTrait.compactMapIssues(replacement).provideScope(
            for: test, testCase: testCase
        ) { await body() }
    }
}

extension SimulationFailure {
    /// Whether a task has left the simulation because an exit test of Swift Testing waits for its
    /// process. Its tasks have names.
    fileprivate var waitsForExitTest: Bool {
        kind == .foreign && description.contains("[Swift Testing] exit test")
    }
}
