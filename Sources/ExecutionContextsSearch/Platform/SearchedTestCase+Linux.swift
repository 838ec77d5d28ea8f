#if !canImport(ObjectiveC)
internal import ExecutionContextsTesting
internal import Foundation
public import XCTest

/// Test classes of XCTest whose tests are searched: each test method runs once for each schedule,
/// on an object of its own, with `setUp` and `tearDown` around it.
///
/// ```swift
/// import ExecutionContextsSearch
/// import XCTest
///
/// final class StreamTests: SearchedTestCase {
///     func testSomeFiveAreCounted() async {
///         let stream = AsyncStream { continuation in
///             for number in 1...5 { continuation.yield(number) }
///             continuation.finish()
///         }
///         async let numbers = stream.reduce(0) { count, _ in count + 1 }
///         let count = await numbers
///         XCTAssertEqual(count, 5)
///     }
/// }
/// ```
///
/// The base class is the only change. What fails the test fails a schedule: an assertion, a thrown
/// error, an expectation that is not fulfilled. So do the failures of `search`. A failure is
/// recorded once, at its assertion, with the story of the schedule.
///
/// The methods run on a simulated thread, also where XCTest would run them on the main thread, and
/// have no `testRun`. Tests that have only one order show nothing about orders, and the end of the
/// class counts them in one line. On Apple platforms each test runs once, and is not searched.
open class SearchedTestCase: XCTestCase {
    /// How the tests of the class are searched.
    open class var search: SearchSettings { SearchSettings() }

    private let closure: XCTestCaseClosure
    private var failures = CapturedFailures()
    /// Whether it runs the test for one schedule of another test case's search.
    private var isOfSchedule = false

    /// Called by XCTest.
    public required init(name: String, testClosure: @escaping XCTestCaseClosure) {
        closure = testClosure
        super.init(name: name, testClosure: testClosure)
    }

    /// Searches the test, unless something prevents searches.
    open override func invokeTest() {
        if isOfSchedule { return super.invokeTest() }
        if let obstacle = obstacleToSearches {
            let text = "'\(name)' runs once and is not searched, since \(obstacle)."
            if SearchSettings.mustSearch { record(text) } else { Self.tell(text) }
            return super.invokeTest()
        }
        // Unsafe in name only: this thread waits, and one thread of a simulation runs at a time.
        nonisolated(unsafe) let test = self
        let settings = Self.search
        let report = ExecutionContextsTesting.search(
            name, schedules: settings.schedules, strategy: settings.strategy, time: settings.time,
            replay: settings.token, seed: settings.seed, steps: settings.steps,
            patience: settings.patience, ignoring: settings.ignoring
        ) { [failures] sim in
            failures.begin()
            sim.spawn("test") {
                unsafe test.invokeForSchedule()
                if failures.first != nil { throw RecordedIssues(count: 1) }
            }
            // A task may fail after the test's method has returned.
            sim.finally("the test records no failure") { failures.first == nil }
        }
        failures.end()
        record(report)
    }

    /// Runs the test on a new object. A test case runs once, and a schedule that fails leaves its
    /// state behind.
    private func invokeForSchedule() {
        let test = Self(name: name) { [failures, closure] test in
            try failures.run { try closure(test) }
        }
        test.failures = failures
        test.isOfSchedule = true
        test.invokeTest()
    }

    /// Keeps the failures of schedules. Elsewhere it is XCTest's own.
    open override func recordFailure(
        withDescription description: String, inFile path: String, atLine line: Int, expected: Bool
    ) {
        let failure = CapturedFailures.Failure(
            description: description, path: path, line: line, isExpected: expected)
        if failures.take(failure) { return }
        super.recordFailure(
            withDescription: description, inFile: path, atLine: line, expected: expected)
    }

    /// Records what the search has found: at the assertion that fails, if one does.
    private func record(_ report: SimulationReport) {
        // A failure of a kind that the search ignores is one of the test.
        let first = failures.first ?? failures.firstOfAll
        if let first {
            let story = report.failure.map { "\n\($0)" } ?? ""
            recordFailure(
                withDescription: first.description + story, inFile: first.path, atLine: first.line,
                expected: first.isExpected)
        } else if let failure = report.failure, failure.kind != .vacuous {
            record("\(failure)")
        } else if failures.isSkipped {
            // Skips once more, for XCTest to record it.
            super.invokeTest()
        } else if report.failure != nil {
            Self.vacuous.withLock { $0.append(name) }
        }
    }

    private func record(_ text: String) {
        recordFailure(withDescription: text, inFile: "<unknown>", atLine: 0, expected: false)
    }

    /// The tests whose searches show nothing about orders, of the class that runs.
    private static let vacuous = Locked<[String]>([])

    /// Counts the tests that show nothing about orders.
    open override class func tearDown() {
        super.tearDown()
        let names = vacuous.withLock { names in
            defer { names = [] }
            return names
        }
        guard !names.isEmpty else { return }
        let count = "\(names.count) test\(names.count == 1 ? "" : "s")"
        let list = names.joined(separator: ", ")
        tell("The searches of \(count) show nothing about orders: \(list).")
    }

    /// XCTest has no warnings.
    private static func tell(_ text: String) {
        FileHandle.standardError.write(Data((text + "\n").utf8))
    }
}
#endif
