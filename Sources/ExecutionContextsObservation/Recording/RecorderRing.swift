internal import ExecutionContexts

/// The events of a recorder and the names in them; under the recorder's lock.
///
/// When the ring is full, the newest event overwrites the oldest.
struct RecorderRing {
    let capacity: Int
    private(set) var lanes: [RecorderLane] = []
    private(set) var overwritten = 0
    /// How many rings the recorder had before this one.
    var generation = 0
    /// The number of slots that were freed since the ring was made.
    private(set) var freed = 0

    private let slots: Slots
    /// The index of the oldest event, and how many slots are in use from there on.
    private var first = 0
    private(set) var used = 0
    private var count = 0
    private var numbers: [RecorderLane: UInt32] = [:]
    private(set) var labels = RecorderLabels()
    /// A cache of the lanes of views that reported recently, to avoid a look-up of their names.
    private var recent = [Recent](repeating: Recent(), count: 64)

    private struct Recent {
        var view: UInt64 = 0
        /// A view may have another time later, as after a simulation.
        var timeSource: ObjectIdentifier?
        var lane: UInt32 = 0
    }

    /// Memory that no event has reached costs no physical memory.
    @safe private final class Slots: @unchecked Sendable {
        // Unchecked: reached only through the ring, and so under the recorder's lock.
        let memory: UnsafeMutableBufferPointer<PackedEvent>

        var count: Int { unsafe memory.count }

        init(_ count: Int) { unsafe memory = .allocate(capacity: count) }

        deinit { unsafe memory.deallocate() }
    }

    static let laneLimit = 1000

    init(capacity: Int) {
        self.capacity = capacity
        // A long event takes three.
        slots = Slots(max(capacity, 3))
    }

    /// Adds the label to an event of `job` that is not long, and its lane, which it returns.
    mutating func complete(_ event: inout PackedEvent, of job: borrowing ObservedWork) -> UInt32 {
        let lane = lane(of: job, isAsync: false)
        event.setLane(lane)
        if job.isLabeled, event.isSubmission, let source = labels.source(of: job.source) {
            event.setSource(source)
        }
        return lane
    }

    /// Adds an event in any form.
    mutating func add(_ parts: [PackedEvent], of job: borrowing ObservedWork, isAsync: Bool) {
        let lane = lane(of: job, isAsync: isAsync)
        // Makes room for all of them first, so that a part never overwrites another one's event.
        while slots.count < used + parts.count { overwriteOldest() }
        var parts = parts
        if parts[0].isSubmission, let source = labels.source(of: job.source) {
            PackedEvent.setSource(source, in: &parts)
        }
        for (index, part) in parts.enumerated() {
            var part = part
            part.setLane(lane)
            if index == 0 { add(part) } else { append(part) }
        }
    }

    /// Adds an event that is complete, and not long.
    mutating func add(_ event: PackedEvent) {
        if count == capacity { overwriteOldest() }
        if used == slots.count { overwriteOldest() }
        count += 1
        append(event)
    }

    private mutating func append(_ part: PackedEvent) {
        let end = first + used
        let size = slots.count
        unsafe slots.memory[end < size ? end : end - size] = part
        used += 1
    }

    private mutating func overwriteOldest() {
        let length = unsafe slots.memory[first].length
        let size = slots.count
        first = first + length < size ? first + length : first + length - size
        used -= length
        freed += length
        count -= 1
        overwritten += 1
    }

    @inline(__always)
    private mutating func lane(of job: borrowing ObservedWork, isAsync: Bool) -> UInt32 {
        let (view, time) = (job.view, job.timeSource)
        let slot = Int(truncatingIfNeeded: view) & 63
        if recent[slot].view == view, recent[slot].timeSource == time { return recent[slot].lane }
        let lane = number(RecorderLane(name: job.context, timeSource: time, isAsync: isAsync))
        recent[slot] = Recent(view: view, timeSource: time, lane: lane)
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

    /// Copies the events in order, into memory of their own, still packed.
    func copy() -> [PackedEvent] { copy(from: 0, limit: used) }

    /// Copies up to `limit` slots, from the one with the number `start` among those in use.
    func copy(from start: Int, limit: Int) -> [PackedEvent] {
        let total = min(limit, used - start)
        // The one empty array of the process would be written to.
        guard total > 0 else { return [] }
        let size = slots.count
        let begin = first + start < size ? first + start : first + start - size
        return unsafe [PackedEvent](unsafeUninitializedCapacity: total) { target, count in
            let tail = min(total, size - begin)
            unsafe target.baseAddress?.initialize(
                from: slots.memory.baseAddress.unsafelyUnwrapped + begin, count: tail)
            unsafe (target.baseAddress.map { unsafe $0 + tail })?.initialize(
                from: slots.memory.baseAddress.unsafelyUnwrapped, count: total - tail)
            count = total
        }
    }
}

/// The labels of recorded jobs, each once.
struct RecorderLabels {
    private(set) var texts: [String] = []
    private var indexes: [String: UInt32] = [:]

    /// The source of a job with a label; nil for one without, and for a label beyond the limit.
    mutating func source(of source: borrowing JobSource) -> RecordedSource? {
        guard let label = source.label else { return nil }
        let isDrain = source.place == .drain
        if let index = indexes[label] { return RecordedSource(labelAt: index, isDrain: isDrain) }
        guard texts.count < RecorderRing.laneLimit else { return nil }
        let index = UInt32(texts.count)
        texts.append(label)
        indexes[label] = index
        return RecordedSource(labelAt: index, isDrain: isDrain)
    }
}

/// What is reported under one name by one time source.
struct RecorderLane: Hashable, Sendable {
    var name: String
    let timeSource: ObjectIdentifier
    /// Whether it consists of `Async`s, not of jobs.
    let isAsync: Bool
}
