internal import Synchronization

extension Async {
    /// The same outcome, and `recorder` is told when this was made, how it ended and by what piece of work.
    ///
    /// It shows under `name`, beside others of that name, from this call to its end, in the time that is named. It
    /// stands between its source and those who wait, as what `map` makes does: use it instead of the source. Cancelling
    /// it is an end as well, and cancels the source if nobody else wants that (law 26).
    public func recorded(
        by recorder: Recorder, as name: String, time: any TimeSource = SystemTime.shared
    ) -> Async {
        let recorded = RecordedCell(recorder, name, time)
        recorded.wait(for: cell) { source, recorded in recorded.end(like: source, Value.self) }
        return Async(cell: recorded)
    }
}

/// A cell that reports its end.
private final class RecordedCell: AsyncCell, @unchecked Sendable {
    // Unchecked because its superclass is; what it adds never changes, but for an atomic.
    private let recorder: Recorder
    private let value: ObservedWork
    private let time: any TimeSource
    private let isReported = Atomic<Bool>(false)

    init(_ recorder: Recorder, _ name: String, _ time: any TimeSource) {
        self.recorder = recorder
        self.time = time
        value = ObservedWork(
            id: 1, view: ObservedNumbers().view, context: name, enqueued: time.now, origin: time.origin,
            submitter: ObservedTurn.running)
        super.init(tag: Self.holdsUntilEnd)
        recorder.noteValue(.started, value, ended: value.enqueued, completer: nil)
    }

    // Before the end: the callbacks that the end calls may take their time.
    override func hear(of source: AsyncCell) {
        if isPending { report() }
        takeStep(source)
    }

    /// Cancelled, its source does not tell it.
    override func didEnd() { report() }

    // Relaxed: who cancels may come at the same time as who completes, and either may say when that was.
    private func report() {
        guard !isReported.exchange(true, ordering: .relaxed) else { return }
        recorder.noteValue(.finished, value, ended: time.now, completer: ObservedTurn.running)
    }

    override var label: String { "the recorded '\(value.context)'" }
}
