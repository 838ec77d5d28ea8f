public import ExecutionContexts

/// A context that must not be used: it reports every use and runs nothing.
///
/// Inject it where a test claims that nothing is submitted:
///
/// ```swift
/// let cache = Cache(disk: FailingContext { Issue.record("\($0)") })
/// ```
public struct FailingContext: SerialContext {
    public let name: String
    private let report: @Sendable (String) -> Void

    /// A context that reports its uses. The default report stops the program.
    public init(
        name: String = "failing",
        report: @escaping @Sendable (String) -> Void = { fatalError($0) }
    ) {
        self.name = name
        self.report = report
    }

    public func execute(_ work: @escaping Work) {
        report("Work was submitted to '\(name)', which must not be used.")
    }

    public func execute(_ work: @escaping Work, refused: @escaping @Sendable (Refusal) -> Void) {
        execute(work)
        refused(Refusal(.abandoned, by: name))
    }

    public var isCurrent: Bool? { false }

    public var time: any TimeSource {
        report("The time of '\(name)' was asked for, which must not be used.")
        return ManualTime()
    }
}
