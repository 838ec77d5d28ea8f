internal import ExecutionContexts

/// The thread buffers of a recorder, and the ordered transfer of their events to its ring.
///
/// Threads that report to one recorder would contend for its ring and its lock. So each thread
/// writes events to its own buffer, and takes the lock when that is full. A reader collects the
/// events of all buffers first.
///
/// The order of a recording is one in which events may have been reported: an event follows each
/// event whose report had returned before its clock was read. Within a buffer that is the order of
/// reporting. Among buffers it is that of the instants, which are all of the system's clock. Any
/// other event is added under the lock, after the events collected then.
///
/// A collector reads the ends of all buffers one after another, so it may miss an event and see a
/// later one that another thread reported because of it. Therefore it takes only these events:
///
/// 1. It reads the ends of all buffers. All events before them are taken. `latest` is the latest
///    instant among them.
/// 2. It reads the ends again, and also takes the events before `latest`. Each cause of one of
///    those, or of one of the first step, was reported before `latest`, and so before this step.
///
/// The system guarantees that its clock's instants are comparable between processors. For events of
/// two threads at one instant, the clock does not determine which caused the other.
@safe final class RecorderBuffers: @unchecked Sendable {
    // Unchecked: `made` is accessed under the recorder's lock. A slot in `table` is accessed only
    // by the thread with its number. A thread that gets the number of an ended one sees that one's
    // writes.
    private let table: UnsafeMutablePointer<Unmanaged<RecorderBuffer>?>
    private let count: UInt32
    // Unchecked: accessed under the recorder's lock. It retains the buffers that `table` points to;
    // a reporting thread retains the recorder, and so this object.
    @exclusivity(unchecked) private nonisolated(unsafe) var made: [RecorderBuffer] = []

    /// Threads with greater numbers have no buffer, and always take the lock.
    private static let mostThreads: UInt32 = 256

    /// A recorder of few events has no buffers: they would take more memory than its ring.
    private static let leastEvents = 1024

    init(capacity: Int) {
        count = capacity < Self.leastEvents ? 0 : Self.mostThreads
        unsafe table = .allocate(capacity: Int(count))
        unsafe table.initialize(repeating: nil, count: Int(count))
    }

    deinit { unsafe table.deallocate() }

    // MARK: - A thread

    /// The buffer of the calling thread, which has this number, if any; nil for zero.
    @inline(__always)
    func buffer(of thread: UInt32) -> Unmanaged<RecorderBuffer>? {
        thread < count ? unsafe table[Int(thread)] : nil
    }

    /// Adds an event to the buffer of the calling thread, and caches the lane of its view there, if
    /// any; called under the lock. False if there is no buffer of this generation, or no free slot.
    ///
    /// For an event whose lane or label is known only under the lock.
    func append(
        _ event: PackedEvent, _ lane: UInt32?, _ view: UInt64, _ generation: Int, _ thread: UInt32
    ) -> Bool {
        guard let buffer = unsafe buffer(of: thread) else { return false }
        return unsafe buffer._withUnsafeGuaranteedRef { buffer in
            guard unsafe buffer.generation == generation, buffer.append(event) else { return false }
            buffer.note(lane, ofView: view, in: generation)
            return true
        }
    }

    /// Creates the buffer of the calling thread if necessary, and caches a lane in it, if any;
    /// called under the lock, after collecting. Zero means no thread.
    func note(_ lane: UInt32?, ofView view: UInt64, in generation: Int, thread: UInt32) {
        guard thread > 0, thread < count else { return }
        if let known = unsafe table[Int(thread)] {
            return unsafe known._withUnsafeGuaranteedRef {
                $0.note(lane, ofView: view, in: generation)
            }
        }
        let fresh = RecorderBuffer()
        fresh.note(lane, ofView: view, in: generation)
        unsafe made.append(fresh)
        // `made` retains it as long as this object exists.
        unsafe table[Int(thread)] = .passUnretained(fresh)
    }

    // MARK: - Names

    /// The lanes of the events here, and those that a thread may still report for without the lock;
    /// called under the lock.
    func lanesInUse(in generation: Int) -> Set<UInt32> {
        var lanes: Set<UInt32> = []
        for buffer in unsafe made where unsafe buffer.generation == generation {
            for number in buffer.written { lanes.insert(buffer[number].lane) }
            lanes.formUnion(buffer.cachedLanes)
        }
        return lanes
    }

    /// The labels of the events here; called under the lock, under which all of them are added.
    func labelsInUse(in generation: Int) -> Set<UInt32> {
        var labels: Set<UInt32> = []
        for buffer in unsafe made where unsafe buffer.generation == generation {
            for number in buffer.written {
                if let label = buffer[number].label { labels.insert(label) }
            }
        }
        return labels
    }

    // MARK: - A collector

    /// Moves all events to `ring`; called under the lock.
    ///
    /// A test reports further events whenever the collector reads a buffer.
    @inline(__always)
    func collect(
        into ring: inout RecorderRing, look: (RecorderBuffer) -> Range<Int> = { $0.written }
    ) {
        if unsafe !made.isEmpty { collectAll(into: &ring, look) }
    }

    @inline(never)
    private func collectAll(
        into ring: inout RecorderRing, _ look: (RecorderBuffer) -> Range<Int>
    ) {
        if unsafe made.count == 1 { return unsafe move(made[0], look(made[0]), to: &ring) }
        let first = unsafe made.map(look)
        guard first.contains(where: { !$0.isEmpty }) else { return }
        var latest = Int64.min
        for (buffer, range) in unsafe zip(made, first) where !range.isEmpty {
            latest = max(latest, buffer[range.upperBound - 1].moment)
        }
        var parts: [[PackedEvent]] = []
        for (buffer, range) in unsafe zip(made, first) {
            var end = look(buffer).upperBound
            while end > range.upperBound, buffer[end - 1].moment >= latest { end -= 1 }
            guard range.lowerBound < end else { continue }
            // The lanes of a cleared ring are not those of its successor.
            if unsafe buffer.generation == ring.generation {
                parts.append((range.lowerBound..<end).map { buffer[$0] })
            }
            buffer.take(upTo: end)
        }
        while parts.count > 1 {
            parts = stride(from: 0, to: parts.count, by: 2).map {
                $0 + 1 < parts.count ? Self.merged(parts[$0], parts[$0 + 1]) : parts[$0]
            }
        }
        for event in parts.first ?? [] { ring.add(event) }
    }

    /// Moves the events of the only buffer.
    private func move(_ buffer: RecorderBuffer, _ range: Range<Int>, to ring: inout RecorderRing) {
        if unsafe buffer.generation == ring.generation {
            for number in range { ring.add(buffer[number]) }
        }
        buffer.take(upTo: range.upperBound)
    }

    /// Merges events by their instants. Each of the two inputs keeps its order.
    private static func merged(_ left: [PackedEvent], _ right: [PackedEvent]) -> [PackedEvent] {
        var merged: [PackedEvent] = []
        merged.reserveCapacity(left.count + right.count)
        var next = 0
        for event in left {
            while next < right.count, right[next].precedes(event) {
                merged.append(right[next])
                next += 1
            }
            merged.append(event)
        }
        merged.append(contentsOf: right[next...])
        return merged
    }
}
