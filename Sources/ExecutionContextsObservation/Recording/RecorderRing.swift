internal import ExecutionContexts

/// The events of a recorder and the names in them; under the recorder's lock.
///
/// When the ring is full, the newest event overwrites the oldest.
struct RecorderRing {
    let capacity: Int
    private(set) var lanes: [RecorderLane] = []
    private(set) var overwritten = 0

    private var entries: [RecorderEntry] = []
    /// The index of the next event, once the ring is full.
    private var next = 0
    private var numbers: [RecorderLane: UInt32] = [:]
    /// A cache of the lanes of views that reported recently, to avoid a look-up of their names.
    private var recent = [Recent](repeating: Recent(view: 0, lane: 0), count: 64)

    private struct Recent {
        var view: UInt64
        var lane: UInt32
    }

    static let laneLimit = 1000

    init(capacity: Int) {
        self.capacity = capacity
        // Reserved and untouched: memory that no event has reached costs no physical memory.
        entries.reserveCapacity(capacity)
    }

    mutating func add(
        _ entry: RecorderEntry, of name: String, in timeSource: ObjectIdentifier, isAsync: Bool
    ) {
        var entry = entry
        entry.lane = lane(of: entry.job.view, name, timeSource, isAsync)
        if entries.count < capacity { return entries.append(entry) }
        entries[next] = entry
        next = next + 1 == capacity ? 0 : next + 1
        overwritten += 1
    }

    private mutating func lane(
        of view: UInt64, _ name: String, _ timeSource: ObjectIdentifier, _ isAsync: Bool
    ) -> UInt32 {
        let slot = Int(truncatingIfNeeded: view) & 63
        if recent[slot].view == view { return recent[slot].lane }
        let lane = number(RecorderLane(name: name, timeSource: timeSource, isAsync: isAsync))
        recent[slot] = Recent(view: view, lane: lane)
        return lane
    }

    private mutating func number(_ lane: RecorderLane) -> UInt32 {
        if let number = numbers[lane] { return number }
        var lane = lane
        if lanes.count >= Self.laneLimit {
            // Excess names share one lane for each time source; there are few time sources.
            lane.name = "(others)"
            if let number = numbers[lane] { return number }
            if lanes.count >= 2 * Self.laneLimit { return UInt32(lanes.count - 1) }
        }
        let number = UInt32(lanes.count)
        lanes.append(lane)
        numbers[lane] = number
        return number
    }

    /// Copies the events in order, into memory of their own.
    ///
    /// Shared memory would make the next event copy it, under the lock.
    func copy() -> [RecorderEntry] {
        var copy: [RecorderEntry] = []
        copy.reserveCapacity(entries.count)
        copy.append(contentsOf: entries[next...])
        copy.append(contentsOf: entries[..<next])
        return copy
    }
}

/// What is reported under one name by one time source.
struct RecorderLane: Hashable, Sendable {
    var name: String
    let timeSource: ObjectIdentifier
    /// Whether it consists of `Async`s, not of jobs.
    let isAsync: Bool
}

/// One event with all that is known of its job by then: older events may have been overwritten.
struct RecorderEntry: Sendable {
    let kind: RecordedEvent.Kind
    let thread: UInt32
    var lane: UInt32 = 0
    let job: ObservedWork.Identity
    let enqueued: Int64
    /// Of a job that never started, when it was dropped.
    let started: Int64
    let ended: Int64
    // Plain numbers, with 0 for none: optionals would be half as large again. Views count from 1.
    private let submittingView: UInt64
    private let submittingJob: UInt64
    private let completingView: UInt64
    private let completingJob: UInt64

    init(
        _ kind: RecordedEvent.Kind, _ job: ObservedWork.Identity, thread: UInt32, enqueued: Int64,
        started: Int64, ended: Int64, submitter: ObservedWork.Identity?,
        completer: ObservedWork.Identity? = nil
    ) {
        self.kind = kind
        self.job = job
        self.thread = thread
        self.enqueued = enqueued
        self.started = started
        self.ended = ended
        submittingView = submitter?.view ?? 0
        submittingJob = submitter?.job ?? 0
        completingView = completer?.view ?? 0
        completingJob = completer?.job ?? 0
    }

    var submitter: ObservedWork.Identity? {
        submittingView == 0
            ? nil : ObservedWork.Identity(ofView: submittingView, job: submittingJob)
    }

    var completer: ObservedWork.Identity? {
        completingView == 0
            ? nil : ObservedWork.Identity(ofView: completingView, job: completingJob)
    }

    /// When the event happened.
    var moment: Int64 {
        switch kind {
        case .enqueued: enqueued
        case .started, .abandoned: started
        case .finished: ended
        }
    }
}
