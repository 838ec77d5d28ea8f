/// Reverses races: each schedule repeats an earlier one up to a choice, and runs another thread
/// there.
///
/// 1. The first schedule is the usual one.
/// 2. In each schedule, two steps race if their order can make a difference and nothing else orders
///    them (`Races`). A reversal runs, at the choice of the earlier step, a thread that leads to
///    the later one. It waits for its schedule.
/// 3. Schedules with fewer reversals run first. After its last reversal a schedule is as usual.
///
/// So a fault that one reversal shows is found in as many schedules as the usual one has races.
/// What happens by chance is reversed in the same way.
final class ReversingChooser: LoggingChooser {
    /// A choice of the schedule that runs.
    private struct Choice {
        let candidates: UInt64
        /// The thread that runs; for a chance, zero or one.
        let chosen: UInt8
        var isChance = false
    }

    /// The choices that a schedule begins with; the last one is a reversal.
    private struct Beginning {
        var choices: [UInt8] = []
        /// How many of them are reversals.
        var level = 0
    }

    private var rng: SeededRNG
    /// The beginnings that wait for their schedule, by their levels.
    private var waiting: [[Beginning]] = [[Beginning()]]
    private var current = Beginning()
    private var choices: [Choice] = []
    /// The first step after the beginning.
    private var firstNew = 0
    private var isChecked = false
    /// The beginnings of schedules that ran or wait.
    private var known: Set<UInt64> = []
    /// How many reversals were found, and how many of them had a schedule; the others wait.
    private(set) var found = 0
    private(set) var tried = 0

    init(seed: UInt64) { rng = SeededRNG(seed: seed) }

    /// Whether no schedule is left.
    var isDone: Bool { waiting.allSatisfy(\.isEmpty) }

    override func begin() {
        super.begin()
        (choices, firstNew, current) = ([], 0, Beginning())
        guard let level = waiting.firstIndex(where: { !$0.isEmpty }) else { return }
        let index = rng.below(waiting[level].count)
        waiting[level].swapAt(index, waiting[level].count - 1)
        current = waiting[level].removeLast()
        if level > 0 { tried += 1 }
    }

    override func choose(
        _ candidates: UInt64, blocked: UInt64, isChecked: Bool, usual: Int
    ) -> Int {
        self.isChecked = isChecked
        if isChecked { log.noteCheck() }
        if log.steps.isEmpty { log.isOpen = true }
        let free = candidates & ~blocked
        var thread = free & 1 << UInt64(usual) != 0 ? usual : free.trailingZeroBitCount
        guard free & (free - 1) != 0 else {
            log.begin(thread, choice: nil)
            return thread
        }
        if let wanted, free & 1 << UInt64(wanted) != 0 { thread = wanted }
        log.begin(thread, choice: choices.count)
        add(Choice(candidates: free, chosen: UInt8(thread)))
        return thread
    }

    /// What the beginning prescribes at the current choice.
    private var wanted: Int? {
        choices.count < current.choices.count ? Int(current.choices[choices.count]) : nil
    }

    private func add(_ choice: Choice) {
        choices.append(choice)
        if choices.count <= current.choices.count { firstNew = max(log.steps.count - 1, 0) }
    }

    override func chance(_ situation: Situation) -> Bool {
        let happens = wanted == 1
        add(Choice(candidates: 0b11, chosen: happens ? 1 : 0, isChance: true))
        log.addChance(happens)
        return happens
    }

    /// Finds the reversals of a schedule that has ended.
    override func end(operations: [Int]) {
        if isChecked { log.noteCheck() }
        guard log.steps.count <= Self.mostSteps, known.count < Self.mostKnown else { return }
        // The prefix of the schedule before each of its choices.
        var beginnings = [Fingerprint()]
        for choice in choices {
            beginnings.append(beginnings[beginnings.count - 1].adding(choice.chosen))
            known.insert(beginnings[beginnings.count - 1].value)
        }
        func reverse(_ place: Int, to other: UInt8) {
            guard found - tried < Self.mostWaiting,
                known.insert(beginnings[place].adding(other).value).inserted
            else { return }
            wait(choices[..<place].map(\.chosen) + [other])
        }
        for place in choices.indices.dropFirst(current.choices.count) where choices[place].isChance
        {
            reverse(place, to: 1 - choices[place].chosen)
        }
        // Even for an order that has run before: at other choices, other threads could run.
        let races = Races(log)
        count(races)
        races.forEach(from: firstNew) { place, threads in
            let candidates = choices[place].candidates
            let able = threads & candidates
            // If none of them can run there, any other thread may lead to one of them.
            var rest = able == 0 ? candidates : able & (0 &- able)
            while rest != 0 {
                reverse(place, to: UInt8(rest.trailingZeroBitCount))
                rest &= rest - 1
            }
        }
    }

    private func wait(_ choices: [UInt8]) {
        found += 1
        let level = current.level + 1
        while waiting.count <= level { waiting.append([]) }
        waiting[level].append(Beginning(choices: choices, level: level))
    }

    /// Longer schedules have more races than could be tried.
    private static let mostSteps = 1_000
    /// How many reversals may wait, with up to a kilobyte each.
    private static let mostWaiting = 10_000
    private static let mostKnown = 1_000_000
}

extension Fingerprint {
    fileprivate func adding(_ choice: UInt8) -> Fingerprint {
        var sum = self
        sum.add(Int(choice))
        return sum
    }
}
