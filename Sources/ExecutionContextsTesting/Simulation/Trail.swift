/// The decisions of one run, in order: who had the turn, before which of its operations, and who
/// got it.
struct Trail: Hashable, Sendable {
    private var steps: [UInt64] = []

    var count: Int { steps.count }

    mutating func add(lane: Int, operation: Int, target: Int) {
        steps.append(UInt64(truncatingIfNeeded: lane << 56 | target << 48 | operation))
    }

    subscript(step: Int) -> (lane: Int, operation: Int, target: Int)? {
        guard steps.indices.contains(step) else { return nil }
        let word = Int(truncatingIfNeeded: steps[step])
        return (word >> 56 & 0xFF, word & 0xFFFF_FFFF_FFFF, word >> 48 & 0xFF)
    }

    /// The first step that is not the same in the other; nil if there is none.
    func firstDifference(from other: Trail) -> Int? {
        let common = zip(steps, other.steps).prefix { $0 == $1 }.count
        return common == max(count, other.count) ? nil : common
    }
}

/// Where two runs of one schedule went apart, and how.
struct Difference {
    private let first: Search.Outcome
    private let second: Search.Outcome

    init(_ first: Search.Outcome, _ second: Search.Outcome) {
        self.first = first
        self.second = second
    }

    var sentence: String {
        guard let step = first.trail.firstDifference(from: second.trail) else {
            return "Every step was the same, and what was found was not."
        }
        return "They go apart at step \(step + 1): in the first run \(Self.text(first, step)), in the second "
            + "\(Self.text(second, step))."
    }

    private static func text(_ outcome: Search.Outcome, _ step: Int) -> String {
        // One run ended where the other went on.
        guard let (lane, operation, target) = outcome.trail[step] else { return "there is nothing more" }
        func name(_ lane: Int) -> String {
            if lane == Schedule.time { return "the clock" }
            return outcome.names.indices.contains(lane) ? "'\(outcome.names[lane])'" : "a thread"
        }
        let turn = target == lane ? "goes on" : "gives the turn to \(name(target))"
        let deeds = outcome.deeds.drop { $0.step < step }.prefix { $0.step <= step + 1 }.prefix(4)
        let around = deeds.isEmpty ? "" : " (there: \(deeds.map(\.text).joined(separator: ", ")))"
        return "\(name(lane)) before its operation \(operation) \(turn)\(around)"
    }
}
