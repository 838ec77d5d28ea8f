/// The choices at one scheduling point.
struct Situation {
    /// The running thread, and the number of the point among its operations.
    var thread: Int
    var operation: Int
    /// Whether the running thread can continue.
    var stays: Bool
    /// Whether the running thread yields to the others.
    var yields: Bool
    /// Whether the running thread has just created a task, in the middle of a job.
    var creates: Bool
    /// The threads that can run.
    var candidates: UInt64
    /// Whether the clock may advance, too.
    var hasTime: Bool
    /// The thread that runs without a switch.
    var usual: Int
    /// All threads, with what each is about to do.
    var threads: [SimulatedThread]
    /// The number of the object that the running thread uses when it continues, if it uses one.
    var object: Int?
}

/// Decides which thread runs next, in one schedule after another.
class Chooser {
    /// A number for each thread, and for the clock.
    static let zeros = [Int](repeating: 0, count: Schedule.time + 1)

    /// This chooser, or the one it delegates to, if it needs to know what each step uses.
    var orders: LoggingChooser? { nil }

    /// How many reversals were found and tried, if the chooser looks for them.
    var reversals: Reversals? { nil }

    /// The conflicting operations of the schedules that the chooser examined, if it does.
    var pairs: ConflictingPairs? { nil }

    /// Begins a new schedule.
    func begin() {}

    /// Returns one of the candidates, or `Schedule.time`.
    func choose(_ situation: Situation) -> Int { situation.usual }

    /// Whether something happens that usually does not.
    func chance(_ situation: Situation) -> Bool { false }

    /// Ends a schedule; `operations` is the number of each thread's operations.
    func end(operations: [Int]) {}
}

/// How many reversals were found in schedules, and how many of them had a schedule of their own.
struct Reversals {
    let found: Int
    let tried: Int
}

/// Runs the usual schedule, and counts its choices.
final class CountingChooser: Chooser {
    /// At how many points another thread could have run.
    private(set) var choices = 0
    /// How often the program called `chance`.
    private(set) var chances = 0
    /// At how many points a delay, a sleep or a time limit was pending while a thread could run.
    var pendingTimes = 0

    override func choose(_ situation: Situation) -> Int {
        choices += 1
        return situation.usual
    }

    override func chance(_ situation: Situation) -> Bool {
        chances += 1
        return false
    }
}

/// Follows a given schedule, to replay it.
final class ReplayingChooser: Chooser {
    private let targets: [Point: Int]
    /// How many switches of the schedule were applied.
    private(set) var taken = 0

    private struct Point: Hashable {
        let thread: Int
        let operation: Int
    }

    init(_ schedule: Schedule) {
        targets = Dictionary(
            schedule.switches.map {
                (Point(thread: $0.thread, operation: $0.operation), $0.target)
            },
            uniquingKeysWith: { first, _ in first })
    }

    override func choose(_ situation: Situation) -> Int {
        let point = Point(thread: situation.thread, operation: situation.operation)
        guard let target = targets[point] else { return situation.usual }
        let isThere =
            target == Schedule.time
            ? situation.hasTime : situation.candidates & 1 << UInt64(target) != 0
        // A switch may no longer apply, where another one was removed or the program has changed.
        guard isThere else { return situation.usual }
        taken += 1
        return target
    }

    override func chance(_ situation: Situation) -> Bool {
        let point = Point(thread: situation.thread, operation: situation.operation)
        guard targets[point] == Schedule.chance else { return false }
        taken += 1
        return true
    }
}

/// Decides at random whether the clock advances, where that is allowed, and what happens by chance.
class TimedChooser: Chooser {
    final var rng: SeededRNG
    /// One chance in this many happens in this schedule, none if it is zero; nil before the first.
    private var chancesOneIn: Int?
    /// Time advances at one point in this many; nil before the first.
    private var timesOneIn: Int?

    init(seed: UInt64) { rng = SeededRNG(seed: seed) }

    override func begin() { (chancesOneIn, timesOneIn) = (nil, nil) }

    final override func chance(_ situation: Situation) -> Bool {
        // Some faults need one chance in a long run, others many chances, and others none.
        let oneIn = chancesOneIn ?? [2, 16, 4, 0][rng.below(4)]
        chancesOneIn = oneIn
        return oneIn > 0 && rng.below(oneIn) == 0
    }

    final override func choose(_ situation: Situation) -> Int {
        if situation.hasTime {
            // Some races need time to advance once, others again and again.
            let oneIn = timesOneIn ?? [4, 16, 64][rng.below(3)]
            timesOneIn = oneIn
            if rng.below(oneIn) == 0 { return Schedule.time }
        }
        return chooseThread(situation)
    }

    func chooseThread(_ situation: Situation) -> Int { situation.usual }
}

final class RandomChooser: TimedChooser {
    private var round = 0
    private var switchesOneIn = 2

    override func begin() {
        super.begin()
        // Schedules with many and with few switches find different bugs.
        switchesOneIn = [2, 4, 12][round % 3]
        round += 1
    }

    override func chooseThread(_ situation: Situation) -> Int {
        if situation.stays && rng.below(switchesOneIn) != 0 { return situation.usual }
        return rng.one(of: situation.candidates)
    }
}

/// Alternates between several choosers, one schedule each.
final class PortfolioChooser: Chooser {
    private let choosers: [Chooser]
    private let reversing: ReversingChooser?
    private var round = 0
    private var randomRound = 0
    private var current: Chooser

    init(_ choosers: [Chooser], reversing: ReversingChooser?) {
        (self.choosers, self.reversing) = (choosers, reversing)
        current = choosers[0]
    }

    override var orders: LoggingChooser? { current.orders }

    override var reversals: Reversals? {
        reversing.map { Reversals(found: $0.found, tried: $0.tried) }
    }

    override var pairs: ConflictingPairs? { reversing?.pairs }

    override func begin() {
        // Reversals find most of their bugs in early schedules.
        let oneIn = round < 60 ? 2 : round < 1_000 ? 8 : 16
        if let reversing, !reversing.isDone, round % oneIn == 0 {
            current = reversing
        } else {
            current = choosers[randomRound % choosers.count]
            randomRound += 1
        }
        round += 1
        current.begin()
    }

    override func choose(_ situation: Situation) -> Int {
        // Pausing a job takes another system thread: only some schedules do so at new tasks.
        if situation.creates && randomRound % 4 != 0 { return situation.usual }
        return current.choose(situation)
    }

    override func chance(_ situation: Situation) -> Bool { current.chance(situation) }

    override func end(operations: [Int]) { current.end(operations: operations) }
}

extension SimulationStrategy {
    /// The chooser for the schedules of one search; not for the exhaustive strategy, which replays
    /// its own schedules.
    func chooser(seed: UInt64, _ time: SimulationTime) -> Chooser {
        switch kind {
        case .random: RandomChooser(seed: seed)
        case .walk: WalkChooser(seed: seed)
        case .sampling: SamplingChooser(seed: seed)
        case .priorities(let depth): PriorityChooser(seed: seed, depth: depth)
        case .portfolio, .exhaustive, .orders:
            portfolio(seed, time)
        }
    }

    /// Reversals find bugs that need few switches; priorities, bugs for which a thread must be
    /// delayed for long; the walk and the sampling, bugs that need many switches.
    /// `Corpus strategies` compares them.
    private func portfolio(_ seed: UInt64, _ time: SimulationTime) -> Chooser {
        let two = PriorityChooser(seed: seed &* 5 &+ 1, depth: 2)
        let five = PriorityChooser(seed: seed &* 5 &+ 2, depth: 5)
        let sampling = SamplingChooser(seed: seed &* 5 &+ 3)
        let walk = WalkChooser(seed: seed &* 5 &+ 4)
        // Reversals reorder threads and chances, not instants of the clock.
        let reversing = time == .whenIdle ? ReversingChooser(seed: seed &* 5) : nil
        return PortfolioChooser([five, walk, sampling, two, walk, sampling], reversing: reversing)
    }
}
