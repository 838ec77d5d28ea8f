internal import ExecutionContexts

/// Delays in the order of (when they come, addition), each removable at once.
///
/// The heap keeps small keys. A delay that is removed leaves its key behind, which is swept out in time; the
/// delay itself and all that it holds go at once (law 7).
struct DelayHeap {
    struct Waiting {
        let delay: DelayedWork
        let tolerance: Duration
        /// The line of the context through which it was set, if it was one.
        let line: ManualLine?
        let comes: Moment
    }

    private struct Key {
        let comes: Moment
        let order: UInt64
        let slot: Int

        func precedes(_ other: Key) -> Bool {
            comes == other.comes ? order < other.order : comes < other.comes
        }
    }

    private var keys: [Key] = []
    /// The delays, each in the slot that its `sequence` names.
    private var slots: [(order: UInt64, waiting: Waiting)?] = []
    private var free: [Int] = []
    private var count = 0

    var isEmpty: Bool { count == 0 }

    func count(where isCounted: (Waiting) -> Bool) -> Int {
        slots.count { $0.map { isCounted($0.waiting) } ?? false }
    }

    /// All of them, in order.
    var all: [Waiting] { keys.filter(isHere).sorted { $0.precedes($1) }.map { slots[$0.slot]!.waiting } }

    /// When the next one comes, or nil if there is none.
    var next: Moment? {
        mutating get {
            while let first = keys.first {
                if isHere(first) { return first.comes }
                removeFirstKey()
            }
            return nil
        }
    }

    /// Takes a delay, whose `order` is above all before.
    mutating func add(_ new: Waiting, order: UInt64) {
        let slot = free.popLast() ?? slots.count
        if slot == slots.count { slots.append((order, new)) } else { slots[slot] = (order, new) }
        // The field is the source's own, and guarded by its lock.
        new.delay.sequence = UInt64(slot)
        count += 1
        keys.append(Key(comes: new.comes, order: order, slot: slot))
        siftUp(keys.count - 1)
    }

    mutating func remove(_ delay: DelayedWork) -> Waiting? {
        guard let slot = Int(exactly: delay.sequence), slot < slots.count,
            slots[slot]?.waiting.delay === delay
        else { return nil }
        let removed = take(slot)
        if keys.count > 2 * count + 64 { sweep() }
        return removed
    }

    /// Takes out the next one that comes at `now` or before.
    mutating func popDue(at now: Moment) -> Waiting? {
        guard let next, next <= now else { return nil }
        let slot = keys[0].slot
        removeFirstKey()
        return take(slot)
    }

    /// Takes out those of one line, or all.
    mutating func removeAll(of line: ManualLine?) -> [Waiting] {
        let gone = keys.filter(isHere).sorted { $0.precedes($1) }.filter {
            line == nil || slots[$0.slot]!.waiting.line === line
        }
        defer { sweep() }
        return gone.map { take($0.slot) }
    }

    /// Whether the delay of a key is still here: its slot may be empty, or another's.
    private func isHere(_ key: Key) -> Bool { slots[key.slot]?.order == key.order }

    private mutating func take(_ slot: Int) -> Waiting {
        count -= 1
        free.append(slot)
        return slots[slot].take()!.waiting
    }

    // MARK: The heap

    private mutating func sweep() {
        // Sorted keys are a heap.
        keys = keys.filter(isHere).sorted { $0.precedes($1) }
    }

    private mutating func removeFirstKey() {
        let last = keys.removeLast()
        guard !keys.isEmpty else { return }
        keys[0] = last
        siftDown()
    }

    private mutating func siftUp(_ start: Int) {
        let key = keys[start]
        var index = start
        while index > 0 {
            let parent = (index - 1) / 2
            guard key.precedes(keys[parent]) else { break }
            keys[index] = keys[parent]
            index = parent
        }
        keys[index] = key
    }

    private mutating func siftDown() {
        let key = keys[0]
        var index = 0
        while true {
            var child = 2 * index + 1
            guard child < keys.count else { break }
            if child + 1 < keys.count, keys[child + 1].precedes(keys[child]) { child += 1 }
            guard keys[child].precedes(key) else { break }
            keys[index] = keys[child]
            index = child
        }
        keys[index] = key
    }
}
