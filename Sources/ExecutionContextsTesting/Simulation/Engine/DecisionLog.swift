/// The decisions of one run, in order: the running thread, its next operation, and the thread that
/// runs next.
struct DecisionLog: Hashable, Sendable {
    private var steps: [UInt64] = []

    var count: Int { steps.count }

    /// Makes room for as many decisions as another log has.
    mutating func reserve(_ count: Int) { steps.reserveCapacity(count) }

    mutating func add(thread: Int, operation: Int, target: Int) {
        steps.append(UInt64(truncatingIfNeeded: thread << 56 | target << 48 | operation))
    }

    subscript(step: Int) -> (thread: Int, operation: Int, target: Int)? {
        guard steps.indices.contains(step) else { return nil }
        let word = Int(truncatingIfNeeded: steps[step])
        return (word >> 56 & 0xFF, word & 0xFFFF_FFFF_FFFF, word >> 48 & 0xFF)
    }

    /// One decision as a number; beyond the end, a number that no decision has.
    func word(_ step: Int) -> Int {
        steps.indices.contains(step) ? Int(truncatingIfNeeded: steps[step]) : -1
    }

    /// Equal for equal decisions; for others equal only by chance.
    var fingerprint: UInt64 {
        var fingerprint = Fingerprint()
        for step in steps { fingerprint.add(Int(truncatingIfNeeded: step)) }
        return fingerprint.value
    }

    /// The first step that differs in the other log; nil if there is none.
    func firstDifference(from other: DecisionLog) -> Int? {
        let common = zip(steps, other.steps).prefix { $0 == $1 }.count
        return common == max(count, other.count) ? nil : common
    }
}

/// The point at which two runs of one schedule diverge.
struct Difference {
    private let first: Search.Outcome
    private let second: Search.Outcome

    init(_ first: Search.Outcome, _ second: Search.Outcome) {
        self.first = first
        self.second = second
    }

    var message: String {
        guard let step = first.decisions.firstDifference(from: second.decisions) else {
            return
                "Every step was the same, but the findings differ: first \(found(first)), then \(found(second))."
        }
        return
            "They diverge at step \(step + 1): in the first run \(text(first, step)), in the second "
            + "\(text(second, step))."
    }

    private func found(_ outcome: Search.Outcome) -> String {
        outcome.finding.map { "'\($0.message)'" } ?? "nothing"
    }

    private func text(_ outcome: Search.Outcome, _ step: Int) -> String {
        // One run ended where the other continued.
        guard let (thread, operation, target) = outcome.decisions[step] else {
            return "it has ended"
        }
        func name(_ thread: Int) -> String {
            if thread == Schedule.time { return "the clock" }
            // One of the two runs may have been traced.
            let names = first.names.isEmpty ? second.names : first.names
            return names.indices.contains(thread) ? "'\(names[thread])'" : "a thread"
        }
        let choice =
            target == thread
            ? "continues"
            : target == Schedule.chance ? "takes a chance" : "switches to \(name(target))"
        let events = outcome.events.drop { $0.step < step }.prefix { $0.step <= step + 1 }.prefix(4)
        let around = events.isEmpty ? "" : " (there: \(events.map(\.text).joined(separator: ", ")))"
        return "\(name(thread)) before its operation \(operation) \(choice)\(around)"
    }
}
