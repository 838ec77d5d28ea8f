/// Where a task awaited in a function of an actor, and another one ran in the actor meanwhile.
struct Reentries {
    /// A call of an actor's function that has not returned, as far as the runtime tells.
    private struct Call: Hashable { let task, actor, function: String }

    private var calls: Set<Call> = []
    /// The tasks that ran in a call's actor since its last part.
    private var others: [Call: String] = [:]
    private(set) var lines: [String] = []

    init(_ events: [(thread: String, event: SimulationTrace.TraceEvent)]) {
        for (task, event) in events {
            guard case .runs(_, let actor, let locations) = event else { continue }
            let functions = CodeLocations.functions(at: locations)
            // The task has returned from the calls that are not among those in which it goes on.
            calls = calls.filter { $0.task != task || functions.contains($0.function) }
            guard let actor, let function = functions.first else { continue }
            visit(Call(task: task, actor: actor, function: function))
        }
    }

    private mutating func visit(_ call: Call) {
        if !calls.insert(call).inserted, let other = others[call], lines.count < 3 {
            let line =
                "actor '\(call.actor)' was re-entered: while '\(call.task)' awaited in "
                + "\(call.function), '\(other)' ran in it"
            if !lines.contains(line) { lines.append(line) }
        }
        others[call] = nil
        for other in calls where other.actor == call.actor && other.task != call.task {
            others[other] = call.task
        }
    }
}
