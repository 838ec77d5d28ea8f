public import ExecutionContexts

extension Async {
    /// Returns an `Async` with the same outcome, which `recorder` records: start, end and
    /// completing job.
    ///
    /// It is shown under `name`, beside others of that name, from this call to its completion, in
    /// the time of `time`. Like the result of `map`, it is a subscriber of its source: use it
    /// instead of the source. Cancelling it completes it, too, and cancels the source if that has
    /// no other interested subscriber (law 26).
    public func recorded(
        by recorder: Recorder, as name: String, time: any TimeSource = SystemTime.shared
    ) -> Async {
        observed(
            as: name, in: time,
            started: { recorder.recordAsync(.started, $0, ended: $0.enqueued, completer: nil) },
            ended: { recorder.recordAsync(.finished, $0, ended: $1, completer: $2) })
    }
}
