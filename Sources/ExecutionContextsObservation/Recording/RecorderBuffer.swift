import ExecutionContexts
internal import Synchronization

/// The latest events of one thread, on their way to the recorder's ring.
///
/// | who | writes | reads |
/// |---|---|---|
/// | the thread with the buffer's number | events, `end` | `start` |
/// | a collector, under the recorder's lock | `start` | events, `end` |
///
/// The events are in the order of their instants: the thread reads the clock just before it reports
/// each event.
@safe final class RecorderBuffer: @unchecked Sendable {
    // Unchecked: the table above says who accesses what. The cache of lanes belongs to the thread.
    // It writes `generation` under the recorder's lock, under which others read it.
    static let capacity = 64

    private let events: UnsafeMutablePointer<PackedEvent>
    /// The number of events that were ever written.
    private let end = Atomic<Int>(0)
    private let lanes: UnsafeMutablePointer<CachedLane>
    /// The ring that the lanes in the events belong to: clearing a recorder replaces its ring.
    @exclusivity(unchecked) private(set) nonisolated(unsafe) var generation = -1
    private let padding = CacheLinePadding()
    /// The number of events that a collector has taken.
    private let start = Atomic<Int>(0)

    private struct CachedLane {
        var view: UInt64 = 0
        var lane: UInt32 = 0
    }

    private static let laneCount = 16

    init() {
        unsafe events = .allocate(capacity: Self.capacity)
        unsafe lanes = .allocate(capacity: Self.laneCount)
        unsafe lanes.initialize(repeating: CachedLane(), count: Self.laneCount)
    }

    deinit {
        unsafe events.deallocate()
        unsafe lanes.deallocate()
    }

    // MARK: - The thread

    /// The lane of a view, if this thread has recently reported for it.
    @inline(__always)
    func lane(ofView view: UInt64) -> UInt32? {
        let cached = unsafe lanes[Int(truncatingIfNeeded: view) & (Self.laneCount - 1)]
        return cached.view == view ? cached.lane : nil
    }

    /// Adds an event; false if there is no room.
    @inline(__always)
    func append(_ event: PackedEvent) -> Bool {
        // Relaxed: only this thread stores it. Acquiring: the event that was in this place before
        // has been copied.
        let end = end.load(ordering: .relaxed)
        guard end &- start.load(ordering: .acquiring) < Self.capacity else { return false }
        unsafe events[end & (Self.capacity - 1)] = event
        // Releasing: a collector that sees the number sees the event.
        self.end.store(end &+ 1, ordering: .releasing)
        return true
    }

    /// Caches the lane of a view, if it has one; called under the lock, and for another generation
    /// only when the buffer is empty.
    func note(_ lane: UInt32?, ofView view: UInt64, in generation: Int) {
        if unsafe self.generation != generation {
            unsafe lanes.update(repeating: CachedLane(), count: Self.laneCount)
            unsafe self.generation = generation
        }
        guard let lane else { return }
        unsafe lanes[Int(truncatingIfNeeded: view) & (Self.laneCount - 1)] = CachedLane(
            view: view, lane: lane)
    }

    /// The cached lanes; called under the lock, under which all changes happen.
    var cachedLanes: [UInt32] {
        (0..<Self.laneCount).compactMap { index in
            let cached = unsafe lanes[index]
            return cached.view == 0 ? nil : cached.lane
        }
    }

    // MARK: - A collector

    /// The numbers of the events that have been written and not taken. Acquiring: they are seen.
    var written: Range<Int> {
        // Relaxed: a collector stores it, under the lock.
        let start = start.load(ordering: .relaxed)
        return start..<end.load(ordering: .acquiring)
    }

    /// The event with a number that is written and not taken.
    subscript(number: Int) -> PackedEvent { unsafe events[number & (Self.capacity - 1)] }

    /// Frees the slots of the events before `number`. Releasing: they have been copied.
    func take(upTo number: Int) { start.store(number, ordering: .releasing) }
}
