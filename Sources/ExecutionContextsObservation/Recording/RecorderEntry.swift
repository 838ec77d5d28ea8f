internal import ExecutionContexts

/// One event with all that is known of its job by then: older events may have been overwritten.
struct RecorderEntry: Hashable, Sendable {
    let kind: RecordedEvent.Kind
    let thread: UInt32
    let lane: UInt32
    let job: ObservedWork.Identity
    let enqueued: Int64
    /// Of a job that never started, when it was dropped.
    let started: Int64
    let ended: Int64
    let submitter: ObservedWork.Identity?
    let completer: ObservedWork.Identity?
    /// Where the job comes from; only the event of its submission says it.
    var source: RecordedSource

    /// When the event happened.
    var moment: Int64 {
        switch kind {
        case .enqueued: enqueued
        case .started, .abandoned: started
        case .finished: ended
        }
    }
}
