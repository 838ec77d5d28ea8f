/// What a thread knows about the memory, and so must see.
struct MemoryView {
    /// For each atomic, by its number, the oldest value that a load may return.
    private(set) var oldest: [Int32] = []
    /// For each thread, how many of its accesses of plain variables happened before.
    private(set) var clock: [Int32] = []

    func oldest(_ atomic: Int) -> Int { atomic < oldest.count ? Int(oldest[atomic]) : 0 }
    func clock(_ thread: Int) -> Int32 { thread < clock.count ? clock[thread] : 0 }

    /// No value before this one can be loaded any more.
    mutating func see(_ value: Int, of atomic: Int) {
        Self.raise(&oldest, atomic, to: Int32(truncatingIfNeeded: value))
    }

    /// Counts an access of a plain variable by a thread, and returns its number.
    mutating func tick(_ thread: Int) -> Int32 {
        let next = clock(thread) + 1
        Self.raise(&clock, thread, to: next)
        return next
    }

    /// Adds what another view knows.
    mutating func join(_ other: MemoryView) {
        Self.join(&oldest, other.oldest)
        Self.join(&clock, other.clock)
    }

    /// Adds what another view knows about values, but not about what happened before.
    mutating func joinValues(_ other: MemoryView) { Self.join(&oldest, other.oldest) }

    private static func raise(_ numbers: inout [Int32], _ index: Int, to number: Int32) {
        while numbers.count <= index { numbers.append(0) }
        numbers[index] = max(numbers[index], number)
    }

    private static func join(_ numbers: inout [Int32], _ others: [Int32]) {
        if numbers.isEmpty {
            numbers = others
            return
        }
        var index = 0
        while index < others.count {
            raise(&numbers, index, to: others[index])
            index += 1
        }
    }
}
