/// Chooses by random priorities, lowered at a few random points.
final class PriorityChooser: TimedChooser {
    /// How often a thread may yield in a schedule without a loss of priority.
    private static let mostYields = 8

    private let depth: Int
    private var priorities = Chooser.zeros
    private var changes: [Int] = []
    private var yields = Chooser.zeros
    private var lowest = 0
    private var length = 40
    private var point = 0

    init(seed: UInt64, depth: Int) {
        self.depth = depth
        super.init(seed: seed)
    }

    override func begin() {
        super.begin()
        var rng = rng
        priorities = Self.zeros.map { _ in 1 + rng.below(1 << 30) }
        self.rng = rng
        yields = Self.zeros
        changes = (1..<max(depth, 2)).prefix(depth - 1).map { _ in rng.below(length) }
        lowest = 0
        point = 0
    }

    override func chooseThread(_ situation: Situation) -> Int {
        // In a long schedule, a polling thread would starve the lower-priority thread it polls for.
        if point > 400 && point % 16 == 0 {
            point += 1
            return rng.one(of: situation.candidates)
        }
        if changes.contains(point) {
            priorities[situation.thread] = lowest
            lowest -= 1
        }
        point += 1
        if situation.yields { yields[situation.thread] += 1 }
        let waits = yields[situation.thread] > Self.mostYields
        // A thread that has run too long, or waits by yielding, runs after the others.
        if situation.yields && waits || situation.stays && situation.usual != situation.thread {
            priorities[situation.thread] = lowest
            lowest -= 1
        }
        var best = situation.candidates.trailingZeroBitCount
        var rest = situation.candidates & (situation.candidates - 1)
        while rest != 0 {
            let thread = rest.trailingZeroBitCount
            if priorities[thread] > priorities[best] { best = thread }
            rest &= rest - 1
        }
        return best
    }

    override func end(operations: [Int]) { length = max((length + point + 1) / 2, 4) }
}
