/// Pending delays in a hierarchical timer wheel: adding and removing take constant time.
///
/// Eight levels of 64 lists. A list of level 0 holds the delays of one tick (262 µs), one of
/// level *n* those of 64ⁿ ticks. When time enters a list of a higher level, its delays move
/// down. A delay lies on the level of the highest bit in which its tick differs from the present
/// one, so a lower level is always due first. A bit map per level finds the next list that is
/// not empty. Not safe for threads: its source guards it.
@safe package struct TimerWheel: ~Copyable {
    static let tickShift = 18
    static let noList = UInt16.max
    private static let levels = 8

    /// First node of each list, level by level. Lists are rings: the first's `previous` is the
    /// last.
    private let lists: UnsafeMutablePointer<TimerNode?>
    private let occupied: UnsafeMutablePointer<UInt64>
    private var current: Int64
    package private(set) var count = 0

    package init(now: Int64) {
        current = now >> Self.tickShift
        unsafe lists = .allocate(capacity: Self.levels * 64)
        unsafe lists.initialize(repeating: nil, count: Self.levels * 64)
        unsafe occupied = .allocate(capacity: Self.levels)
        unsafe occupied.initialize(repeating: 0, count: Self.levels)
    }

    deinit {
        for index in 0..<Self.levels * 64 {
            while let node = unsafe lists[index] {
                detach(node)
                node.release()
            }
        }
        unsafe lists.deallocate()
        unsafe occupied.deallocate()
    }

    // MARK: Adding and removing

    /// Takes a delay and retains it; returns the instant at which the wheel must be turned for it.
    package mutating func add(_ delay: DelayedWork) -> Int64 {
        count += 1
        return attach(TimerNode(retaining: delay))
    }

    /// Releases a delay; false if the wheel does not hold it.
    package mutating func remove(_ delay: DelayedWork) -> Bool {
        guard unsafe delay.listIndex != Self.noList else { return false }
        let node = TimerNode(linked: delay)
        detach(node)
        node.release()
        count -= 1
        return true
    }

    private func attach(_ node: TimerNode) -> Int64 {
        let deadline = node.deadline
        let tick = max(deadline >> Self.tickShift, current)
        let level = (63 - ((tick ^ current) | 63).leadingZeroBitCount) / 6
        let position = Int((tick >> (6 * Int64(level))) & 63)
        let listIndex = level * 64 + position
        if let first = unsafe lists[listIndex] {
            let last = first.previous
            last.next = node
            node.previous = last
            node.next = first
            first.previous = node
        } else {
            unsafe lists[listIndex] = node
            node.next = node
            node.previous = node
            unsafe occupied[level] |= 1 << UInt64(position)
        }
        node.listIndex = UInt16(listIndex)
        // The first delay of a tick on level 0 sets its own deadline. A later one in the same tick,
        // or one that was moved down, waits for the end of the tick: see `nextWake`.
        return level == 0 ? deadline : wakeTime(level: level, position: position)
    }

    private func detach(_ node: TimerNode) {
        let listIndex = Int(node.listIndex)
        let next = node.next
        if next == node {
            unsafe lists[listIndex] = nil
            unsafe occupied[listIndex / 64] &= ~(1 << UInt64(listIndex % 64))
        } else {
            let previous = node.previous
            previous.next = next
            next.previous = previous
            if unsafe lists[listIndex] == node { unsafe lists[listIndex] = next }
        }
        node.listIndex = Self.noList
    }

    // MARK: Turning

    /// When the wheel must be turned next, or nil if it is empty.
    package var nextWake: Int64? {
        nextList().map { wakeTime(level: $0.level, position: $0.position) }
    }

    /// Moves all nodes that are due at `now` out, earliest list first; the caller takes them.
    package mutating func turn(to now: Int64, into due: inout [TimerNode]) {
        let target = max(now >> Self.tickShift, current)
        while let (level, position) = nextList() {
            let start = startTick(level: level, position: position)
            if start > target { break }
            current = max(start, current)
            if level > 0 {
                forEachNode(in: level * 64 + position) { node in
                    detach(node)
                    _ = attach(node)
                }
                continue
            }
            // Some delays of the present tick may lie ahead.
            takeDue(position, now: start < target ? .max : now, into: &due)
            if start == target { break }
        }
        current = target
    }

    private mutating func takeDue(_ listIndex: Int, now: Int64, into due: inout [TimerNode]) {
        let before = due.count
        forEachNode(in: listIndex) { node in
            guard node.deadline <= now else { return }
            detach(node)
            due.append(node)
        }
        count -= due.count - before
    }

    /// Visits the nodes that a list has now, each of which may leave it.
    private func forEachNode(in listIndex: Int, _ visit: (TimerNode) -> Void) {
        guard var node = unsafe lists[listIndex] else { return }
        let last = node.previous
        while true {
            let next = node.next
            let isLast = node == last
            visit(node)
            if isLast { return }
            node = next
        }
    }

    private func nextList() -> (level: Int, position: Int)? {
        for level in 0..<Self.levels {
            let map = unsafe occupied[level]
            if map != 0 { return (level, map.trailingZeroBitCount) }
        }
        return nil
    }

    private func startTick(level: Int, position: Int) -> Int64 {
        let above = Int64(6 * (level + 1))
        return (current >> above) << above | Int64(position) << Int64(6 * level)
    }

    /// The end of a tick, when all its delays are due, or the start of a longer span, to move it
    /// down.
    private func wakeTime(level: Int, position: Int) -> Int64 {
        let start = startTick(level: level, position: position)
        return (level == 0 ? start + 1 : start) << Int64(Self.tickShift)
    }
}

/// A delay as the timer wheel holds it: one pointer, whose references the wheel counts by hand.
///
/// A delay is linked into a list by its own fields, so being pending costs no memory but the
/// delay's own. Safe to use under the wheel's rule: from `init(retaining:)` until `release()` or
/// `take()` the delay lives.
@safe package struct TimerNode: Equatable {
    private let reference: Unmanaged<DelayedWork>

    init(retaining delay: DelayedWork) { unsafe reference = .passRetained(delay) }

    init(linked delay: DelayedWork) { unsafe reference = .passUnretained(delay) }

    func release() { unsafe reference.release() }

    package func take() -> DelayedWork { unsafe reference.takeRetainedValue() }

    package static func == (left: TimerNode, right: TimerNode) -> Bool {
        unsafe left.reference.toOpaque() == right.reference.toOpaque()
    }

    var next: TimerNode {
        get { unsafe reference._withUnsafeGuaranteedRef { unsafe $0.next.unsafelyUnwrapped } }
        nonmutating set { unsafe reference._withUnsafeGuaranteedRef { unsafe $0.next = newValue } }
    }

    var previous: TimerNode {
        get { unsafe reference._withUnsafeGuaranteedRef { unsafe $0.previous.unsafelyUnwrapped } }
        nonmutating set {
            unsafe reference._withUnsafeGuaranteedRef { unsafe $0.previous = newValue }
        }
    }

    var listIndex: UInt16 {
        get { unsafe reference._withUnsafeGuaranteedRef { unsafe $0.listIndex } }
        nonmutating set {
            unsafe reference._withUnsafeGuaranteedRef { unsafe $0.listIndex = newValue }
        }
    }

    var deadline: Int64 {
        unsafe reference._withUnsafeGuaranteedRef { unsafe $0.deadlineNanoseconds }
    }
}
