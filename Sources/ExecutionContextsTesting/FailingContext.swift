public import ExecutionContexts

/// A context that must not be used: it reports every use and runs nothing.
///
/// Inject it where a test asserts that nothing is submitted:
///
/// ```swift
/// let cache = Cache(disk: FailingContext { Issue.record("\($0)") })
/// ```
///
/// With XCTest, the report is `{ XCTFail($0) }`. The report of a delay names the source location
/// where it was set. A caller that awaits a job on this context receives the refusal `.abandoned`.
/// Its time is always zero.
public struct FailingContext: SerialContext {
    public let name: String
    private let report: @Sendable (String) -> Void
    private let clock: FailingTime

    /// Creates a context that reports its uses. The default report traps, which ends all other
    /// tests too.
    public init(
        name: String = "failing",
        report: @escaping @Sendable (String) -> Void = { fatalError($0) }
    ) {
        self.name = name
        self.report = report
        clock = FailingTime(name: name, report: report)
    }

    public func execute(_ work: @escaping Work) {
        report(
            "Work was submitted to '\(name)', which this test declares unused. It does not run.")
    }

    public func execute(
        _ work: @escaping Work, refused: consuming @escaping @Sendable (Refusal) -> Void
    ) {
        execute(work)
        refused(Refusal(.abandoned, by: name))
    }

    public var isCurrent: Bool? { false }

    public var time: any TimeSource { clock }
}

/// A time source that never advances, and reports every delay.
private final class FailingTime: TimeSource {
    private let name: String
    private let report: @Sendable (String) -> Void

    init(name: String, report: @escaping @Sendable (String) -> Void) {
        self.name = name
        self.report = report
    }

    var now: ContextInstant { ContextInstant(nanoseconds: 0) }

    func add(_ delay: DelayedWork, tolerance: Duration) {
        let what = delay.knownSourceLocation.map { "A delay was set at \($0)" } ?? "A task sleeps"
        report("\(what) on '\(name)', which this test declares unused. It never ends.")
    }

    func remove(_ delay: DelayedWork) {}
}
