/// Where the turn may go on to, at one point.
struct Situation {
    /// Who has the turn, and its own number of the point.
    var lane: Int
    var operation: Int
    /// Whether it can go on itself.
    var stays: Bool
    /// Who can go on.
    var candidates: UInt64
    /// Whether the clock may go on, too.
    var hasTime: Bool
    /// Who goes on by itself.
    var usual: Int
}

/// Decides who goes on, in one schedule after another.
class Chooser {
    /// A new schedule begins.
    func begin() {}

    /// One of the candidates, or `Schedule.time`.
    func choose(_ situation: Situation) -> Int { situation.usual }

    /// The schedule is over; each lane did so many operations.
    func end(operations: [Int]) {}
}

/// What is given, and nothing else: the way to replay.
final class ReplayingChooser: Chooser {
    private let targets: [Place: Int]
    /// How many of the switches have found their place.
    private(set) var taken = 0

    private struct Place: Hashable {
        let lane: Int
        let operation: Int
    }

    init(_ schedule: Schedule) {
        targets = Dictionary(
            schedule.switches.map { (Place(lane: $0.lane, operation: $0.operation), $0.target) },
            uniquingKeysWith: { first, _ in first })
    }

    override func choose(_ situation: Situation) -> Int {
        let place = Place(lane: situation.lane, operation: situation.operation)
        guard let target = targets[place] else { return situation.usual }
        let isThere =
            target == Schedule.time ? situation.hasTime : situation.candidates & 1 << UInt64(target) != 0
        // Where another switch was taken away, or the program has changed, one may mean nothing any more.
        guard isThere else { return situation.usual }
        taken += 1
        return target
    }
}

/// Lets the clock go on now and then, where it may.
class TimedChooser: Chooser {
    final var dice: Dice

    init(seed: UInt64) { dice = Dice(seed: seed) }

    final override func choose(_ situation: Situation) -> Int {
        if situation.hasTime && dice.below(24) == 0 { return Schedule.time }
        return chooseLane(situation)
    }

    func chooseLane(_ situation: Situation) -> Int { situation.usual }
}

final class RandomChooser: TimedChooser {
    private var round = 0
    private var switchesOneIn = 2

    override func begin() {
        // Some schedules with many switches, some with few: they find different faults.
        switchesOneIn = [2, 4, 12][round % 3]
        round += 1
    }

    override func chooseLane(_ situation: Situation) -> Int {
        if situation.stays && dice.below(switchesOneIn) != 0 { return situation.usual }
        return dice.one(of: situation.candidates)
    }
}

/// Chooses by what each lane had still to do at this point, as far as former schedules tell.
final class WalkChooser: TimedChooser {
    private var expected = [Int](repeating: 8, count: 64)
    private var done = [Int](repeating: 0, count: 64)

    override func begin() { for lane in done.indices { done[lane] = 0 } }

    override func chooseLane(_ situation: Situation) -> Int {
        done[situation.lane] = situation.operation
        var total = 0
        var rest = situation.candidates
        while rest != 0 {
            total += weight(rest.trailingZeroBitCount)
            rest &= rest - 1
        }
        var point = dice.below(total)
        rest = situation.candidates
        while true {
            let lane = rest.trailingZeroBitCount
            point -= weight(lane)
            if point < 0 { return lane }
            rest &= rest - 1
        }
    }

    private func weight(_ lane: Int) -> Int { max(expected[lane] - done[lane], 1) }

    override func end(operations: [Int]) {
        for (lane, count) in operations.enumerated() { expected[lane] = (expected[lane] + count + 1) / 2 }
    }
}

/// Random priorities, lowered at a few random points.
final class PriorityChooser: TimedChooser {
    private let depth: Int
    private var priorities = [Int](repeating: 0, count: 64)
    private var changes: [Int] = []
    private var lowest = 0
    private var length = 40
    private var point = 0

    init(seed: UInt64, depth: Int) {
        self.depth = depth
        super.init(seed: seed)
    }

    override func begin() {
        for lane in priorities.indices { priorities[lane] = 1 + dice.below(1 << 30) }
        changes = (1..<max(depth, 2)).prefix(depth - 1).map { _ in dice.below(length) }
        lowest = 0
        point = 0
    }

    override func chooseLane(_ situation: Situation) -> Int {
        if changes.contains(point) {
            priorities[situation.lane] = lowest
            lowest -= 1
        }
        point += 1
        // Whoever does not stay of its own will lets the others go first.
        if situation.stays && situation.usual != situation.lane {
            priorities[situation.lane] = lowest
            lowest -= 1
        }
        var best = situation.candidates.trailingZeroBitCount
        var rest = situation.candidates & (situation.candidates - 1)
        while rest != 0 {
            let lane = rest.trailingZeroBitCount
            if priorities[lane] > priorities[best] { best = lane }
            rest &= rest - 1
        }
        return best
    }

    override func end(operations: [Int]) { length = max((length + point + 1) / 2, 4) }
}

/// Several choosers, one schedule each in turn.
final class PortfolioChooser: Chooser {
    private let choosers: [Chooser]
    private var round = 0
    private var current: Chooser

    init(_ choosers: [Chooser]) {
        self.choosers = choosers
        current = choosers[0]
    }

    override func begin() {
        current = choosers[round % choosers.count]
        round += 1
        current.begin()
    }

    override func choose(_ situation: Situation) -> Int { current.choose(situation) }

    override func end(operations: [Int]) { current.end(operations: operations) }
}

extension SimulationStrategy {
    /// What chooses in the schedules of one search; not for the exhaustive way, which replays what it made up.
    func chooser(seed: UInt64) -> Chooser {
        switch way {
        case .random: RandomChooser(seed: seed)
        case .walk: WalkChooser(seed: seed)
        case .priorities(let depth): PriorityChooser(seed: seed, depth: depth)
        case .portfolio, .exhaustive:
            portfolio(seed)
        }
    }

    /// The walk changes threads at most points and takes longest, so it comes seldom.
    private func portfolio(_ seed: UInt64) -> Chooser {
        let two = PriorityChooser(seed: seed &* 5 &+ 1, depth: 2)
        let three = PriorityChooser(seed: seed &* 5 &+ 2, depth: 3)
        let random = RandomChooser(seed: seed &* 5 &+ 3)
        let walk = WalkChooser(seed: seed &* 5 &+ 4)
        return PortfolioChooser([two, random, three, two, random, walk])
    }
}
