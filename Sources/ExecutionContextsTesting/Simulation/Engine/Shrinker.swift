/// Removes from a schedule the switches that the failure does not need.
struct Shrinker {
    /// The limits of a phase: runs, steps of all runs, and extra runs for another kind of failure.
    ///
    /// The last limit exists because each deadlock abandons threads.
    private typealias Budget = (runs: Int, steps: Int, other: Int)

    private static let removals: Budget = (3_000, 1_000_000, 0)
    private static let detours: Budget = (240, 100_000, 20)
    /// For schedules that are too long for a reader.
    private static let search: Budget = (6_000, 500_000, 20)
    private static let readable = 3

    private let run: (Chooser) -> Search.Outcome
    private let fails: (Search.Outcome) -> Bool
    private var best: Schedule
    private var left = Shrinker.removals

    /// Creates a shrinker of one outcome; `fails` says which other outcomes count as the same
    /// failure.
    init(
        _ outcome: Search.Outcome, _ run: @escaping (Chooser) -> Search.Outcome,
        keeping fails: @escaping (Search.Outcome) -> Bool
    ) {
        best = outcome.schedule
        self.run = run
        self.fails = fails
    }

    /// Returns a schedule of fewer switches that fails in the same way.
    mutating func shrink() -> Schedule {
        if best.switches.isEmpty || attempt([]) { return best }
        removeSwitches()
        left = Self.detours
        while best.switches.count > 1, mayGoOn, replaceEnd() {}
        left = Self.search
        while best.switches.count > Self.readable, mayGoOn, replaceTwo() {}
        left = Self.search
        if best.switches.count > Self.readable { searchShort() }
        left = Self.removals
        repeat { removeSwitches() } while moveEarlier() || useFewerThreads()
        return best
    }

    private var mayGoOn: Bool { left.runs > 0 && left.steps > 0 }

    /// Keeps a shorter schedule if it fails too, in the form in which it ran: some switches may not
    /// have applied.
    private mutating func attempt(_ switches: [Switch]) -> Bool {
        mayGoOn && attempt(ReplayingChooser(Schedule(switches: switches)))
    }

    private mutating func attempt(_ chooser: Chooser) -> Bool {
        let count = best.switches.count
        return attempt(chooser) { $0.switches.count < count }
    }

    /// Keeps the schedule that ran if it fails too, and is better.
    private mutating func attempt(_ chooser: Chooser, _ isBetter: (Schedule) -> Bool) -> Bool {
        let outcome = run(chooser)
        left.runs -= 1
        left.steps -= outcome.operations.reduce(0, +)
        guard fails(outcome) else {
            if outcome.finding != nil { left.runs -= left.other }
            return false
        }
        guard isBetter(outcome.schedule) else { return false }
        best = outcome.schedule
        return true
    }

    private mutating func removeSwitches() {
        var size = max(best.switches.count / 2, min(best.switches.count, 3))
        while mayGoOn {
            var start = 0
            var hasShrunk = false
            // At every index: often two adjacent switches, there and back, can only be removed
            // together.
            while start + size <= best.switches.count {
                var fewer = best.switches
                fewer.removeSubrange(start..<start + size)
                if attempt(fewer) { hasShrunk = true } else { start += 1 }
            }
            if hasShrunk && size < 3 {
                size = 3
            } else if size > 1 {
                size -= size > 4 ? size / 2 : 1
            } else {
                return
            }
        }
    }

    // MARK: One form of many

    /// How many earlier places are tried for each switch.
    private static let mostPlaces = 16

    /// Moves each switch to an earlier place at which the failure still shows; returns whether one
    /// was moved.
    private mutating func moveEarlier() -> Bool {
        func place(_ schedule: Schedule) -> Int {
            schedule.switches.reduce(0) { $0 + $1.operation }
        }
        var hasMoved = false
        for index in best.switches.indices {
            let last = index < best.switches.count ? best.switches[index].operation : 0
            for operation in max(1, last - Self.mostPlaces)..<max(1, last) {
                guard mayGoOn, index < best.switches.count else { return hasMoved }
                var moved = best
                moved.switches[index].operation = operation
                let (count, sum) = (best.switches.count, place(best))
                let isBetter = attempt(ReplayingChooser(moved)) {
                    ($0.switches.count, place($0)) < (count, sum)
                }
                if isBetter {
                    hasMoved = true
                    break
                }
            }
        }
        return hasMoved
    }

    /// Replaces threads so that fewer are involved; returns whether that succeeded.
    private mutating func useFewerThreads() -> Bool {
        func threads(_ schedule: Schedule) -> Set<Int> {
            Set(schedule.switches.flatMap { [$0.thread, $0.target] })
        }
        for index in best.switches.indices {
            let (count, used) = (best.switches.count, threads(best))
            for target in used.sorted() where target != best.switches[index].target {
                guard mayGoOn else { return false }
                var changed = best
                changed.switches[index].target = target
                let isBetter = attempt(ReplayingChooser(changed)) {
                    ($0.switches.count, threads($0).count) < (count, used.count)
                }
                if isBetter { return true }
            }
        }
        return false
    }

    // MARK: Other switches

    /// Replaces the last two or more switches by one other switch, the longest prefixes first.
    ///
    /// A random schedule often takes a detour: to a third thread, and from there to the one that
    /// fails.
    private mutating func replaceEnd() -> Bool {
        for kept in (0..<best.switches.count - 1).reversed() where mayGoOn {
            if replace(with: Array(best.switches.prefix(kept)), anywhere: false) { return true }
        }
        return false
    }

    /// Replaces any two switches by one other switch at any point.
    private mutating func replaceTwo() -> Bool {
        for second in best.switches.indices.reversed() {
            for first in (0..<second).reversed() {
                guard mayGoOn else { return false }
                var kept = best.switches
                kept.remove(at: second)
                kept.remove(at: first)
                if replace(with: kept, anywhere: true) { return true }
            }
        }
        return false
    }

    /// Tries to add one switch to the kept ones.
    private mutating func replace(with kept: [Switch], anywhere: Bool) -> Bool {
        guard mayGoOn else { return false }
        let chooser = ExhaustingChooser(Schedule(switches: kept), anywhere: anywhere)
        if attempt(chooser) { return true }
        for other in chooser.alternatives where attempt(kept + [other]) { return true }
        return false
    }

    /// Tries all short schedules, within the budget, those with fewer switches first.
    private mutating func searchShort() {
        var waiting = [Schedule()]
        var next = 0
        while next < waiting.count, mayGoOn {
            let schedule = waiting[next]
            next += 1
            let chooser = ExhaustingChooser(schedule)
            if attempt(chooser) { return }
            if schedule.switches.count < Self.readable && waiting.count < Self.search.runs {
                waiting += chooser.alternatives.map { Schedule(switches: schedule.switches + [$0]) }
            }
        }
    }
}

/// Replays a schedule, and lists the alternatives after its last switch, or at any of its points.
final class ExhaustingChooser: Chooser {
    private let replaying: ReplayingChooser
    private var left: Int
    private(set) var alternatives: [Switch] = []
    /// Whether each of the schedule's switches has applied.
    var hasApplied: Bool { left <= 0 }

    init(_ schedule: Schedule, anywhere: Bool = false) {
        replaying = ReplayingChooser(schedule)
        left = anywhere ? 0 : schedule.switches.count
    }

    override func choose(_ situation: Situation) -> Int {
        let target = replaying.choose(situation)
        if target != situation.usual {
            left -= 1
        } else if left <= 0 {
            var others = situation.candidates & ~(1 << UInt64(situation.usual))
            if situation.hasTime { others |= 1 << UInt64(Schedule.time) }
            while others != 0 {
                alternatives.append(
                    Switch(
                        thread: situation.thread, operation: situation.operation,
                        target: others.trailingZeroBitCount))
                others &= others - 1
            }
        }
        return target
    }

    override func chance(_ situation: Situation) -> Bool {
        if replaying.chance(situation) {
            left -= 1
            return true
        }
        if left <= 0 {
            alternatives.append(
                Switch(
                    thread: situation.thread, operation: situation.operation,
                    target: Schedule.chance))
        }
        return false
    }
}
