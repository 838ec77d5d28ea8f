internal import ExecutionContexts
internal import Synchronization

/// The state that the stall watches of one view share.
final class StallMonitor: Sendable {
    let context: String
    let isSerial: Bool
    let limit: Duration
    let report: @Sendable (StalledJob) -> Void
    /// Schedules `work` on the reporting context, at the `deadline` of `time`.
    let schedule:
        @Sendable (_ time: any TimeSource, _ deadline: ContextInstant, _ work: @escaping Work) ->
            DelayedWork
    /// Guards the watches of the view, too.
    let lock = ObservationLock()
    private let last = Atomic<UInt64>(0)

    init(
        of name: String, isSerial: Bool, limit: Duration, on reporting: some ExecutionContext,
        from place: CodePlace,
        report: @escaping @Sendable (StalledJob) -> Void
    ) {
        require(
            limit > .zero,
            "A watched view of '\(name)' with a limit of \(limit) would report every job at once. "
                + "Pass a limit above zero.")
        context = name
        self.isSerial = isSerial
        self.limit = limit
        self.report = report
        schedule = { time, deadline, work in
            Retimed(base: reporting, time: time).schedule(
                at: deadline, from: place, work)
        }
    }

    /// The number of the next job. Relaxed: the numbers order nothing.
    func next() -> UInt64 { last.add(1, ordering: .relaxed).newValue }
}

/// A context with the time of another one: reports run on `base`, at deadlines of `time`.
///
/// Not generic, so that the type of its delays is known statically: a look-up of that type costs as
/// much as the rest.
private struct Retimed: ExecutionContext {
    let base: any ExecutionContext
    let time: any TimeSource

    func execute(_ work: consuming @escaping Work) { base.execute(consume work) }

    func enqueue(_ work: consuming @escaping Work) { base.enqueue(consume work) }

    var submissionTransform: (@Sendable (_ work: @escaping Work) -> Work)? {
        base.submissionTransform
    }

    var name: String { base.name }
}
