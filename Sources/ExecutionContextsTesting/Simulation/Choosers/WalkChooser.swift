/// Chooses so that all interleavings of the watched operations are about equally likely.
///
/// 1. A schedule watches the uses of some objects, or all operations.
/// 2. The thread that does the next watched operation is drawn, weighted by the number of those
///    that it has left, as estimated from earlier schedules.
/// 3. The running thread continues until it is about to do one and is not drawn. Then the drawn one
///    runs.
///
/// A schedule that watches few objects has few switches, all of them where the objects are used.
final class WalkChooser: TimedChooser {
    /// How often each thread uses each of the first objects.
    private struct Uses {
        static let mostObjects = 64
        private static let width = Schedule.time + 1
        private var counts = [Int](repeating: 0, count: mostObjects * width)
        /// For each object, the threads whose counts may differ from zero, as a set.
        private var users = [UInt64](repeating: 0, count: mostObjects)

        subscript(object: Int, thread: Int) -> Int { counts[object * Self.width + thread] }

        mutating func count(_ object: Int, _ thread: Int) {
            counts[object * Self.width + thread] += 1
            users[object] |= 1 << UInt64(thread)
        }

        mutating func clear() {
            for object in users.indices where users[object] != 0 {
                forEach(in: users[object]) { counts[object * Self.width + $0] = 0 }
                users[object] = 0
            }
        }

        /// Moves halfway to the counts of another schedule, rounded up, so no count returns to
        /// zero.
        mutating func approach(_ other: Uses) {
            for object in users.indices where users[object] | other.users[object] != 0 {
                users[object] |= other.users[object]
                forEach(in: users[object]) { thread in
                    let index = object * Self.width + thread
                    counts[index] = (counts[index] + other.counts[index] + 1) / 2
                }
            }
        }

        /// The objects that several threads use, as a set of their numbers.
        var shared: UInt64 {
            var set: UInt64 = 0
            for object in users.indices where users[object].nonzeroBitCount > 1 {
                set |= 1 << UInt64(object)
            }
            return set
        }
    }

    private var expectedUses = Uses()
    private var uses = Uses()
    /// The objects that the schedule watches, as a set of their numbers; nil for all operations.
    private var watched: UInt64?
    private var expected = Chooser.zeros.map { _ in 8 }
    /// How many watched operations each thread has left.
    private var left = Chooser.zeros
    /// The threads that are about to do a watched operation and were not drawn.
    private var waiting: UInt64 = 0
    private var drawn: Int?

    override func begin() {
        super.begin()
        watched = drawObjects()
        uses.clear()
        (waiting, drawn) = (0, nil)
        guard let watched else { return left = expected }
        left = Self.zeros
        forEach(in: watched) { object in
            for thread in left.indices { left[thread] += expectedUses[object, thread] }
        }
    }

    private func drawObjects() -> UInt64? {
        let shared = expectedUses.shared
        if shared == 0 || rng.below(2) == 0 { return nil }
        if rng.below(2) == 0 { return 1 << UInt64(rng.one(of: shared)) }
        let some = shared & rng.bits()
        return some == 0 ? shared : some
    }

    override func chooseThread(_ situation: Situation) -> Int {
        let thread = situation.thread
        let object = situation.object.flatMap { $0 < Uses.mostObjects ? $0 : nil }
        if let object { uses.count(object, thread) }
        guard let watched else {
            left[thread] = expected[thread] - situation.operation
            return draw(from: situation.candidates)
        }
        let counts = object.map { watched & 1 << UInt64($0) != 0 } ?? false
        if situation.stays && !counts && situation.usual == thread { return thread }
        var candidates = situation.candidates
        if !counts && candidates & (candidates - 1) != 0 { candidates &= ~(1 << UInt64(thread)) }
        var next = drawn ?? draw(from: candidates)
        if candidates & 1 << UInt64(next) == 0 { next = draw(from: candidates) }
        if counts && situation.stays { waiting |= 1 << UInt64(thread) }
        drawn = next
        if waiting & 1 << UInt64(next) != 0 {
            // It does the operation when it continues.
            waiting &= ~(1 << UInt64(next))
            left[next] -= 1
            drawn = nil
        }
        return next
    }

    /// Draws a thread by the number of operations that each has left.
    private func draw(from candidates: UInt64) -> Int {
        var total = 0
        forEach(in: candidates) { total += max(left[$0], 1) }
        var point = rng.below(total)
        var rest = candidates
        while true {
            let thread = rest.trailingZeroBitCount
            point -= max(left[thread], 1)
            if point < 0 { return thread }
            rest &= rest - 1
        }
    }

    override func end(operations: [Int]) {
        for (thread, count) in operations.enumerated() {
            expected[thread] = (expected[thread] + count + 1) / 2
        }
        expectedUses.approach(uses)
    }
}

/// Calls `body` with each number in a set.
private func forEach(in set: UInt64, _ body: (Int) -> Void) {
    var rest = set
    while rest != 0 {
        body(rest.trailingZeroBitCount)
        rest &= rest - 1
    }
}
