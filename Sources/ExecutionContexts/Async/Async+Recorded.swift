internal import Synchronization

extension Async {
    /// Returns an `Async` with the same outcome, which `recorder` records: start, end and
    /// completing job.
    ///
    /// It shows under `name`, beside others of that name, from this call to its completion, in the
    /// time of `time`. Like the result of `map`, it is a subscriber of its source: use it instead
    /// of the source. Cancelling it completes it as well, and cancels the source if that has no
    /// other interested subscriber (law 26).
    public func recorded(
        by recorder: Recorder, as name: String, time: any TimeSource = SystemTime.shared
    ) -> Async {
        let recorded = RecordedState(recorder, name, time)
        recorded.wait(for: state) { source, recorded in recorded.end(like: source, Value.self) }
        return Async(state: recorded)
    }
}

/// A future state that reports its completion to a recorder.
private final class RecordedState: FutureState, @unchecked Sendable {
    // Unchecked because its superclass is; it adds constants and an atomic.
    private let recorder: Recorder
    private let value: ObservedWork
    private let time: any TimeSource
    private let isReported = Atomic<Bool>(false)

    init(_ recorder: Recorder, _ name: String, _ time: any TimeSource) {
        self.recorder = recorder
        self.time = time
        value = ObservedWork(
            id: 1, view: ObservedNumbers().view, context: name, enqueued: time.now,
            origin: time.origin,
            submitter: ObservedJob.running)
        super.init(tag: Self.holdsUntilEnd)
        recorder.recordAsync(.started, value, ended: value.enqueued, completer: nil)
    }

    // Reported before the completion, because the callbacks that completion calls may take long.
    override func sourceCompleted(_ source: FutureState) {
        if isPending { report() }
        propagate(source)
    }

    /// Reports a cancellation, after which the source does not notify it.
    override func didEnd() { report() }

    // Relaxed: a cancelling and a completing thread may race, and either may report the time.
    private func report() {
        guard !isReported.exchange(true, ordering: .relaxed) else { return }
        recorder.recordAsync(.finished, value, ended: time.now, completer: ObservedJob.running)
    }

    override var label: String { "the recorded '\(value.context)'" }
}
