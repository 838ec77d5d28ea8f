/// A first-in, first-out queue of jobs, in segments of raw memory: 16 bytes a job, without nodes.
///
/// Not synchronized: its owner guards it. Taking all jobs out is one move, so a view leaves its
/// lock with a whole batch. A job that comes while none is queued is kept in the queue itself. So a
/// view without a backlog needs no segment, and submitting one job touches one cache line.
@safe package struct WorkQueue: ~Copyable {
    /// The oldest job, if it came while no other was queued; the segments hold the later ones.
    private var single: Work?
    private var first: Segment?
    private var last: Segment?
    /// An empty segment kept for the next burst, so that a busy view does not allocate.
    private var spare: Segment?
    private var segmented: UInt32 = 0
    /// The index in `first` of the next job to leave, and the index in `last` of the next to enter:
    /// small, so that a queue and the lock and flags of its view share one cache line.
    private var head: UInt16 = 0
    private var tail: UInt16 = 0

    package init() {}

    deinit {
        var next = unsafe first
        var start = Int(head)
        while let segment = unsafe next {
            unsafe next = segment.next
            let end = unsafe next == nil ? Int(tail) : Int(segment.capacity)
            unsafe (segment.slots + start).deinitialize(count: end - start)
            unsafe segment.deallocate()
            start = 0
        }
        if let spare = unsafe spare { unsafe spare.deallocate() }
    }

    package var isEmpty: Bool { single == nil && segmented == 0 }

    package var count: Int { Int(segmented) + (single == nil ? 0 : 1) }

    @inline(__always)
    package mutating func append(_ work: consuming @escaping Work) {
        if isEmpty {
            single = work
            return
        }
        let isFull = unsafe last.map { unsafe $0.capacity == tail } ?? true
        if isFull { grow() }
        unsafe (last.unsafelyUnwrapped.slots + Int(tail)).initialize(to: Slot(work: work))
        tail += 1
        segmented += 1
    }

    @inline(__always)
    package mutating func popFirst() -> Work? {
        if let work = single.take() { return work }
        guard segmented > 0 else { return nil }
        let segment = unsafe first.unsafelyUnwrapped
        let work = unsafe (segment.slots + Int(head)).move().work
        head += 1
        segmented -= 1
        if segmented == 0 {
            head = 0
            tail = 0
        } else if unsafe head == segment.capacity {
            unsafe first = segment.next
            head = 0
            unsafe retire(segment)
        }
        return work
    }

    /// Moves all jobs out, and keeps the spare segment.
    @inline(__always)
    package mutating func takeAll() -> WorkQueue {
        var taken = WorkQueue()
        swap(&self, &taken)
        unsafe swap(&spare, &taken.spare)
        return taken
    }

    /// Moves the only job to an empty queue; false unless there is exactly one.
    @inline(__always)
    package mutating func moveOnlyJob(to other: inout WorkQueue) -> Bool {
        guard segmented == 0, let only = single.take() else { return false }
        other.single = only
        return true
    }

    /// Keeps the memory of a finished batch for the next burst.
    @inline(__always)
    package mutating func reuse(_ finished: inout WorkQueue) {
        guard unsafe spare == nil, finished.isEmpty, let segment = unsafe finished.first else {
            return
        }
        unsafe finished.first = nil
        unsafe finished.last = nil
        unsafe retire(segment)
    }

    private mutating func grow() {
        let capacity = unsafe last.map { unsafe min($0.capacity * 2, Segment.largest) }
        let fresh = unsafe spare.take() ?? Segment.allocate(capacity ?? Segment.smallest)
        unsafe fresh.next = nil
        if let last = unsafe last {
            unsafe last.next = fresh
        } else {
            unsafe first = fresh
            head = 0
        }
        unsafe last = fresh
        tail = 0
    }

    private mutating func retire(_ segment: Segment) {
        if unsafe spare == nil && segment.capacity <= Segment.largestSpare {
            unsafe spare = segment
        } else {
            unsafe segment.deallocate()
        }
    }
}

// Unchecked: it owns its segments, and their contents are sendable.
extension WorkQueue: @unchecked Sendable {}

/// A closure as it is called: a pointer to a bare closure type would hold the most general
/// representation, and allocate a thunk each time a closure goes in or comes out.
private struct Slot {
    let work: Work
}

/// A heap block: a header of two words at offset 0, then the slots.
@unsafe private struct Segment {
    static let smallest: UInt16 = 14
    static let largest: UInt16 = 510
    static let largestSpare: UInt16 = 62

    private let header: UnsafeMutablePointer<Header>

    @unsafe private struct Header {
        var next: Segment?
        var capacity: UInt16
    }

    @inline(__always)
    private static func layout(_ capacity: UInt16) -> (block: BlockLayout, slots: Int) {
        var block = BlockLayout()
        _ = unsafe block.append(Header.self)
        let slots = block.append(Slot.self, count: Int(capacity))
        return (block, slots)
    }

    static func allocate(_ capacity: UInt16) -> Segment {
        let header = unsafe layout(capacity).block.allocate().bindMemory(
            to: Header.self, capacity: 1)
        unsafe header.initialize(to: Header(next: nil, capacity: capacity))
        return unsafe Segment(header: header)
    }

    func deallocate() { unsafe UnsafeMutableRawPointer(header).deallocate() }

    var next: Segment? {
        get { unsafe header.pointee.next }
        nonmutating set { unsafe header.pointee.next = newValue }
    }

    var capacity: UInt16 { unsafe header.pointee.capacity }

    var slots: UnsafeMutablePointer<Slot> {
        // The offset does not depend on the capacity, and the optimizer folds it into a constant.
        unsafe (UnsafeMutableRawPointer(header) + Self.layout(0).slots)
            .assumingMemoryBound(to: Slot.self)
    }
}

/// A first-in, first-out queue. Not synchronized: its owner guards it. `popFirst` moves the element
/// out, so the caller owns what it holds. For jobs, `WorkQueue` needs half of the memory.
@frozen @usableFromInline
package struct FIFO<Element>: ~Copyable {
    @usableFromInline var elements: [Element?] = []
    @usableFromInline var start = 0

    @inlinable
    package init() {}

    @inlinable package var isEmpty: Bool { start == elements.count }

    @inlinable package var count: Int { elements.count - start }

    @inlinable package var first: Element? { isEmpty ? nil : elements[start] }

    @inlinable package var all: [Element] { elements[start...].compactMap { $0 } }

    @inlinable
    package mutating func append(_ element: Element) { elements.append(element) }

    @inlinable
    package mutating func popFirst() -> Element? {
        if isEmpty { return nil }
        let element = elements[start].take()
        start += 1
        if isEmpty {
            elements.removeAll(keepingCapacity: start <= 64)
            start = 0
        } else if start > 32, start > elements.count / 2 {
            // As many as were removed since the last time, so each element is moved once.
            elements.removeFirst(start)
            start = 0
        }
        return element
    }
}

/// How long a drain may keep its thread before it yields to other work of its base.
package struct DrainBudget {
    private var jobs = 0
    private var start: Int64?

    package init() {}

    /// Counts a job; true after 256 jobs or about a millisecond.
    package mutating func spend() -> Bool {
        jobs += 1
        // Reading the clock costs as much as a small job. So it is read at every eighth job, and
        // after two and four jobs, which may be slow. A drain of one job never reads it.
        guard jobs & 7 == 0 || jobs == 2 || jobs == 4 else { return false }
        let now = SimulationHooks.now
        guard let start else {
            self.start = now
            return false
        }
        return jobs >= 256 || now - start > 1_000_000
    }
}
