internal import ExecutionContexts

/// One event with all that is known about its job at that time: older events may have been
/// overwritten.
struct RecorderEntry: Hashable, Sendable {
    let kind: RecordedEvent.Kind
    let thread: UInt32
    let lane: UInt32
    let job: ObservedWork.Identity
    let enqueued: Int64
    /// For a job that never started, when it was dropped.
    let started: Int64
    let ended: Int64
    let submitter: ObservedWork.Identity?
    let completer: ObservedWork.Identity?
    /// The source of the job; only the event of its submission has it.
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

extension RecorderEntry {
    /// Sorts the entries of real time by their instants.
    ///
    /// Other threads, which read the clock later, may overtake a thread that waits for the
    /// recorder's lock. No entry moves past one of another clock, which may have caused it.
    static func byInstant(
        _ entries: [RecorderEntry], isRealTime: (RecorderEntry) -> Bool
    ) -> [RecorderEntry] {
        var sorted: [RecorderEntry] = []
        sorted.reserveCapacity(entries.count)
        for run in entries.split(
            omittingEmptySubsequences: false, whereSeparator: { !isRealTime($0) })
        {
            let order = run.indices.sorted {
                (entries[$0].moment, $0) < (entries[$1].moment, $1)
            }
            sorted += order.map { entries[$0] }
            if run.endIndex < entries.endIndex { sorted.append(entries[run.endIndex]) }
        }
        return sorted
    }
}
