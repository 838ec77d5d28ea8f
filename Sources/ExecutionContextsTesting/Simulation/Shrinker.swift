/// Takes away from a schedule what the failure does not need.
struct Shrinker {
    /// How many runs shrinking may take; a deadlock leaves threads behind in each.
    private static let budget = 80

    private let play: (Schedule) -> Search.Outcome

    init(_ play: @escaping (Schedule) -> Search.Outcome) { self.play = play }

    /// A schedule of fewer switches that fails in the same way.
    func shrink(_ outcome: Search.Outcome, keeping fails: (Search.Outcome) -> Bool) -> Schedule {
        var best = outcome.schedule
        var left = Self.budget
        /// Keeps a shorter schedule if it fails, too; as it went, since a switch may have meant nothing.
        func attempt(_ switches: [Switch]) -> Bool {
            guard left > 0 else { return false }
            left -= 1
            let outcome = play(Schedule(switches: switches))
            guard fails(outcome), outcome.schedule.switches.count < best.switches.count else { return false }
            best = outcome.schedule
            return true
        }
        if best.switches.isEmpty || attempt([]) { return best }
        var size = max(best.switches.count / 2, min(best.switches.count, 3))
        while true {
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
                return best
            }
            if left == 0 { return best }
        }
    }
}

/// Replays a schedule, and lists what could have been chosen after its last switch.
final class ExhaustingChooser: Chooser {
    private let replaying: ReplayingChooser
    private var left: Int
    private(set) var alternatives: [Switch] = []

    init(_ schedule: Schedule) {
        replaying = ReplayingChooser(schedule)
        left = schedule.switches.count
    }

    override func choose(_ situation: Situation) -> Int {
        let target = replaying.choose(situation)
        if target != situation.usual {
            left -= 1
        } else if left == 0 {
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
