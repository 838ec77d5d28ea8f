/// Finds where a task awaited in a function of an actor while another one ran in the actor.
struct Reentries {
    /// A call of an actor's function that has not returned, as far as the runtime reports.
    private struct Call: Equatable { let actor, function: String }

    /// A part of a task that ran in an actor, and its number among those of the actor.
    private typealias Part = (task: String, number: Int)

    /// The last parts that ran in an actor.
    private struct Parts {
        var count = 0
        var last: Part?
        /// The last part of any other task.
        var other: Part?

        mutating func add(_ task: String) {
            count += 1
            if let last, last.task != task { other = last }
            last = (task, count)
        }

        /// The task that ran last after a part of this task.
        func last(besides task: String, after number: Int) -> String? {
            let part = last?.task == task ? other : last
            return part.flatMap { $0.number > number ? $0.task : nil }
        }
    }

    /// The calls of each task, each with the number of the last part in it.
    private var calls: [String: [(call: Call, number: Int)]] = [:]
    private var actors: [String: Parts] = [:]
    private(set) var lines: [String] = []

    init(_ events: [(thread: String, event: SimulationTrace.TraceEvent)]) {
        for (task, event) in events {
            guard case .runs(let part) = event else { continue }
            let functions = CodeLocations.functions(at: part.locations)
            // The task has returned from the calls that are not among its current ones.
            calls[task]?.removeAll { !functions.contains($0.call.function) }
            guard let actor = part.actor, let function = functions.first,
                Self.isIsolated(function, to: actor)
            else { continue }
            visit(Call(actor: actor, function: function), by: task)
        }
    }

    /// Whether a function is one of the actor's own, rather than one that calls it from elsewhere.
    /// The name of an actor is that of its type, perhaps with its parameters or a number.
    private static func isIsolated(_ function: String, to actor: String) -> Bool {
        let type = actor.prefix { $0 != " " && $0 != "<" }
        return type == "MainActor" || function.contains("\(type).")
    }

    private mutating func visit(_ call: Call, by task: String) {
        let known = calls[task]?.first { $0.call == call }
        if let known, lines.count < 3,
            let other = actors[call.actor]?.last(besides: task, after: known.number)
        {
            let line =
                "actor '\(call.actor)' was re-entered: while '\(task)' awaited in "
                + "\(call.function), '\(other)' ran in it"
            if !lines.contains(line) { lines.append(line) }
        }
        actors[call.actor, default: Parts()].add(task)
        calls[task]?.removeAll { $0.call == call }
        calls[task, default: []].append((call, actors[call.actor]!.count))
    }
}
