internal import ExecutionContexts

/// Delays in the order of (fire time, addition), each removable at once.
///
/// The heap holds small keys. A removed delay leaves its key behind, and a later sweep removes the
/// key. The delay itself and its captures are released at once (law 7).
struct DelayHeap {
    struct Entry {
        let delay: DelayedWork
        let tolerance: Duration
        /// The queue of the context on which the delay was set; nil for a delay set on the time
        /// itself.
        let queue: ManualReadyQueue?
        let fireTime: ContextInstant
    }

    private struct Key {
        let fireTime: ContextInstant
        let order: UInt64
        let slot: Int

        func precedes(_ other: Key) -> Bool {
            fireTime == other.fireTime ? order < other.order : fireTime < other.fireTime
        }
    }

    private var keys: [Key] = []
    /// The delays; the `sequence` of a delay is the index of its slot.
    private var slots: [(order: UInt64, entry: Entry)?] = []
    private var free: [Int] = []
    private var count = 0

    var isEmpty: Bool { count == 0 }

    func count(where isCounted: (Entry) -> Bool) -> Int {
        slots.count { $0.map { isCounted($0.entry) } ?? false }
    }

    /// All delays, in order.
    var all: [Entry] {
        keys.filter(isLive).sorted { $0.precedes($1) }.map { slots[$0.slot]!.entry }
    }

    /// The fire time of the next delay; nil if there is none.
    var next: ContextInstant? {
        mutating get {
            while let first = keys.first {
                if isLive(first) { return first.fireTime }
                removeFirstKey()
            }
            return nil
        }
    }

    /// Adds a delay, whose `order` is greater than every earlier one.
    mutating func add(_ new: Entry, order: UInt64) {
        let slot = free.popLast() ?? slots.count
        if slot == slots.count { slots.append((order, new)) } else { slots[slot] = (order, new) }
        // `sequence` belongs to the time source, and the lock of the time guards it.
        new.delay.sequence = UInt64(slot)
        count += 1
        keys.append(Key(fireTime: new.fireTime, order: order, slot: slot))
        siftUp(keys.count - 1)
    }

    mutating func remove(_ delay: DelayedWork) -> Entry? {
        guard let slot = Int(exactly: delay.sequence), slot < slots.count,
            slots[slot]?.entry.delay === delay
        else { return nil }
        let removed = take(slot)
        if keys.count > 2 * count + 64 { sweep() }
        return removed
    }

    /// Removes and returns the next delay whose fire time is `now` or earlier.
    mutating func popDue(at now: ContextInstant) -> Entry? {
        guard let next, next <= now else { return nil }
        let slot = keys[0].slot
        removeFirstKey()
        return take(slot)
    }

    /// Removes and returns the delays of one queue, or all delays.
    mutating func removeAll(of queue: ManualReadyQueue?) -> [Entry] {
        let removed = keys.filter(isLive).sorted { $0.precedes($1) }.filter {
            queue == nil || slots[$0.slot]!.entry.queue === queue
        }
        defer { sweep() }
        return removed.map { take($0.slot) }
    }

    /// Whether the delay of a key is still pending: its slot may be empty or reused.
    private func isLive(_ key: Key) -> Bool { slots[key.slot]?.order == key.order }

    private mutating func take(_ slot: Int) -> Entry {
        count -= 1
        free.append(slot)
        return slots[slot].take()!.entry
    }

    // MARK: The heap

    private mutating func sweep() {
        // Sorted keys are a heap.
        keys = keys.filter(isLive).sorted { $0.precedes($1) }
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
