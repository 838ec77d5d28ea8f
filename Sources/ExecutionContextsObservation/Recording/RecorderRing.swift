internal import ExecutionContexts

/// The events of a recorder and the names in them; under the recorder's lock.
///
/// When the ring is full, the newest event overwrites the oldest.
struct RecorderRing {
    let capacity: Int
    /// How many names and how many labels there may be at a time.
    let mostNames: Int
    var lanes = RecorderNames<RecorderLane>()
    private(set) var labels = RecorderNames<String>()
    private(set) var overwritten = 0
    /// How many rings the recorder had before this one.
    var generation = 0
    /// The number of slots freed since the ring was created.
    private(set) var freed = 0

    private let slots: Slots
    /// The index of the oldest event, and the number of used slots from there.
    private var first = 0
    private(set) var used = 0
    private var count = 0
    /// A cache of the lanes of views that reported recently, to avoid a look-up of their names.
    private var recent = [Recent](repeating: Recent(), count: 64)

    private struct Recent {
        var view: UInt64 = 0
        /// A view may later have another time, for example after a simulation.
        var timeSource: ObjectIdentifier?
        var lane: UInt32 = 0
    }

    /// Slots that were never used take no physical memory.
    @safe private final class Slots: @unchecked Sendable {
        // Unchecked: reached only through the ring, and so under the recorder's lock.
        let memory: UnsafeMutableBufferPointer<PackedEvent>

        var count: Int { unsafe memory.count }

        init(_ count: Int) { unsafe memory = .allocate(capacity: count) }

        deinit { unsafe memory.deallocate() }
    }

    /// An event has 12 bits for its lane. The numbers beyond this limit are for excess names.
    static let nameLimit = 4_000
    private static let laneLimit = 4_096
    private static let excess = "(others)"

    init(capacity: Int, mostNames: Int = Self.nameLimit) {
        (self.capacity, self.mostNames) = (capacity, mostNames)
        // A long event takes three slots.
        slots = Slots(max(capacity, 3))
    }

    /// The position of the next event, counted from the first one ever.
    private var end: Int { freed + used }

    /// Adds the label and the lane to an event of `job` that is not long. Returns the lane if the
    /// view keeps it for as long as `buffers` cache it.
    mutating func complete(
        _ event: inout PackedEvent, of job: borrowing ObservedWork, _ buffers: RecorderBuffers
    ) -> UInt32? {
        let (lane, isOwn) = lane(of: job, isAsync: false, buffers)
        event.setLane(lane)
        if job.origin.isLabeled, event.isSubmission, let source = source(of: job, buffers) {
            event.setSource(source)
        }
        return isOwn ? lane : nil
    }

    /// Adds an event in any form.
    mutating func add(
        _ parts: [PackedEvent], of job: borrowing ObservedWork, isAsync: Bool,
        _ buffers: RecorderBuffers
    ) {
        let (lane, _) = lane(of: job, isAsync: isAsync, buffers)
        // Makes room for all of them first, so that a part never overwrites another one's event.
        while slots.count < used + parts.count { overwriteOldest() }
        var parts = parts
        if parts[0].isSubmission, let source = source(of: job, buffers) {
            PackedEvent.setSource(source, in: &parts)
        }
        let label = PackedEvent.label(of: parts)
        for (index, part) in parts.enumerated() {
            var part = part
            part.setLane(lane)
            if index == 0 { add(part, label) } else { append(part) }
        }
    }

    /// Adds an event that is complete, and not long.
    mutating func add(_ event: PackedEvent) { add(event, event.label) }

    /// Adds an event, or the first part of one, that has this label.
    private mutating func add(_ event: PackedEvent, _ label: UInt32?) {
        if count == capacity { overwriteOldest() }
        if used == slots.count { overwriteOldest() }
        count += 1
        lanes.note(event.lane, at: end)
        if let label { labels.note(label, at: end) }
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

    // MARK: - Names

    /// The lane of a job, and whether it is the lane of its name.
    @inline(__always)
    private mutating func lane(
        of job: borrowing ObservedWork, isAsync: Bool, _ buffers: RecorderBuffers
    ) -> (UInt32, isOwn: Bool) {
        let (view, time) = (job.view, job.timeSource)
        let slot = Int(truncatingIfNeeded: view) & 63
        if recent[slot].view == view, recent[slot].timeSource == time {
            return (recent[slot].lane, true)
        }
        let name = RecorderLane(name: job.context, timeSource: time, isAsync: isAsync)
        guard let lane = number(of: name, buffers) else { return (excessLane(for: name), false) }
        recent[slot] = Recent(view: view, timeSource: time, lane: lane)
        return (lane, true)
    }

    private mutating func number(of lane: RecorderLane, _ buffers: RecorderBuffers) -> UInt32? {
        if let number = lanes.number(of: lane) { return number }
        if lanes.count >= mostNames {
            let gaveUp = lanes.giveUpUnused(before: freed, pause: capacity / 64) { [generation] in
                buffers.lanesInUse(in: generation)
            }
            if gaveUp { recent = [Recent](repeating: Recent(), count: recent.count) }
        }
        return lanes.add(lane, limit: mostNames)
    }

    /// The lane that the excess names of one time source share. There are few time sources.
    ///
    /// It is looked up for each event: a name gets its own lane as soon as one is free.
    private mutating func excessLane(for lane: RecorderLane) -> UInt32 {
        var shared = lane
        shared.name = Self.excess
        return lanes.number(of: shared) ?? lanes.add(shared, limit: Self.laneLimit)
            ?? lanes.number { $0.name == Self.excess }!
    }

    /// The source of a job with a label; nil for one without, and for an excess label.
    private mutating func source(
        of job: borrowing ObservedWork, _ buffers: RecorderBuffers
    ) -> RecordedSource? {
        let source = job.source
        guard let label = source.label else { return nil }
        let isDrain = source.place == .drain
        if let number = labels.number(of: label) {
            return RecordedSource(labelAt: number, isDrain: isDrain)
        }
        if labels.count >= mostNames {
            _ = labels.giveUpUnused(before: freed, pause: capacity / 64) { [generation] in
                buffers.labelsInUse(in: generation)
            }
        }
        let number = labels.add(label, limit: mostNames)
        return number.map { RecordedSource(labelAt: $0, isDrain: isDrain) }
    }

    /// Copies the events in order, still packed.
    func copy() -> [PackedEvent] { copy(from: 0, limit: used) }

    /// Copies up to `limit` slots, from the one with the number `start` among those in use.
    func copy(from start: Int, limit: Int) -> [PackedEvent] {
        let total = min(limit, used - start)
        // Otherwise the shared empty array would be written to.
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

/// The events under one name in one time source.
struct RecorderLane: Hashable, Sendable {
    var name: String
    let timeSource: ObjectIdentifier
    /// Whether it consists of `Async`s, not of jobs.
    let isAsync: Bool
}
