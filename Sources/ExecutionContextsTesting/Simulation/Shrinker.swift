/// Takes away from a schedule what the failure does not need.
struct Shrinker {
    /// How many runs something may take, how many steps in all of them, and for how many more runs one counts that
    /// fails in another way: each deadlock leaves threads behind.
    private typealias Budget = (runs: Int, steps: Int, other: Int)

    private static let takingAway: Budget = (80, .max, 0)
    private static let detours: Budget = (240, 100_000, 20)
    /// For schedules that are longer than people can follow.
    private static let search: Budget = (6_000, 500_000, 20)
    private static let readable = 3

    private let play: (Chooser) -> Search.Outcome
    private let fails: (Search.Outcome) -> Bool
    private var best: Schedule
    private var left = Shrinker.takingAway

    /// A shrinker of what came of one run, where `fails` says which others count as the same.
    init(
        _ outcome: Search.Outcome, _ play: @escaping (Chooser) -> Search.Outcome,
        keeping fails: @escaping (Search.Outcome) -> Bool
    ) {
        best = outcome.schedule
        self.play = play
        self.fails = fails
    }

    /// A schedule of fewer switches that fails in the same way.
    mutating func shrink() -> Schedule {
        if best.switches.isEmpty || attempt([]) { return best }
        takeAway()
        left = Self.detours
        while best.switches.count > 1, mayGoOn, replaceEnd() {}
        left = Self.search
        while best.switches.count > Self.readable, mayGoOn, replaceTwo() {}
        left = Self.search
        if best.switches.count > Self.readable { searchShort() }
        return best
    }

    private var mayGoOn: Bool { left.runs > 0 && left.steps > 0 }

    /// Keeps a shorter schedule if it fails, too; as it went, since a switch may have meant nothing.
    private mutating func attempt(_ switches: [Switch]) -> Bool {
        mayGoOn && attempt(ReplayingChooser(Schedule(switches: switches)))
    }

    private mutating func attempt(_ chooser: Chooser) -> Bool {
        let outcome = play(chooser)
        left.runs -= 1
        left.steps -= outcome.operations.reduce(0, +)
        guard fails(outcome) else {
            if outcome.finding != nil { left.runs -= left.other }
            return false
        }
        guard outcome.schedule.switches.count < best.switches.count else { return false }
        best = outcome.schedule
        return true
    }

    private mutating func takeAway() {
        var size = max(best.switches.count / 2, min(best.switches.count, 3))
        while mayGoOn {
            var start = 0
            var hasShrunk = false
            // At every place: often it is two neighbours, there and back, that must go together.
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

    // MARK: Other switches

    /// Puts one other switch in the place of the last two or more, the longest beginnings first.
    ///
    /// What chance has found is often a long way round: to a third lane, and from there to where it fails.
    private mutating func replaceEnd() -> Bool {
        for kept in (0..<best.switches.count - 1).reversed() {
            if replace(with: Array(best.switches.prefix(kept)), anywhere: false) { return true }
        }
        return false
    }

    /// Puts one other switch, anywhere, in the place of any two.
    private mutating func replaceTwo() -> Bool {
        for second in best.switches.indices.reversed() {
            for first in (0..<second).reversed() {
                var kept = best.switches
                kept.remove(at: second)
                kept.remove(at: first)
                if replace(with: kept, anywhere: true) { return true }
            }
        }
        return false
    }

    /// Adds one switch to those that are kept.
    private mutating func replace(with kept: [Switch], anywhere: Bool) -> Bool {
        let chooser = ExhaustingChooser(Schedule(switches: kept), anywhere: anywhere)
        guard mayGoOn else { return false }
        if attempt(chooser) { return true }
        for other in chooser.alternatives where attempt(kept + [other]) { return true }
        return false
    }

    /// Tries all schedules that are short enough, as far as it gets, those with fewer switches first.
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

/// Replays a schedule, and lists what could have been chosen after its last switch, or at any of its points.
final class ExhaustingChooser: Chooser {
    private let replaying: ReplayingChooser
    private var left: Int
    private(set) var alternatives: [Switch] = []

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
                        lane: situation.lane, operation: situation.operation,
                        target: others.trailingZeroBitCount))
                others &= others - 1
            }
        }
        return target
    }
}
