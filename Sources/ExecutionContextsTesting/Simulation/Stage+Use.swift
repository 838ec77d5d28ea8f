internal import ExecutionContexts

extension Stage {
    /// The lane of this stage that calls, if one does.
    var caller: Lane? {
        guard let thread = LaneThread.current, thread.stage === self, phase != .over else { return nil }
        return thread.lane
    }

    /// The lane that calls; a stranger is reported.
    func callerOrReport(using name: String) -> Lane? {
        if let lane = caller { return lane }
        let late = phase == .over ? "after its schedule was over, " : ""
        crew.report(
            stranger:
                "'\(name)' was used \(late)by a thread that the simulation does not control. Start threads with spawn "
                + "and tasks with task, and sleep by clock: a Task { } of its own, an actor with its own executor, a sleep of Task and "
                + "the queues of the system run outside (law 33).")
        return nil
    }

    /// Runs work on one of the threads that the system lends where a pool has none to spare.
    func lend(_ work: @escaping () -> Void, by lane: Lane) {
        point(lane)
        let line = lender ?? JobLine(names.unique("the system"), width: 16, on: self)
        lender = line
        chronicle?.add(lane, .submits(line.name))
        line.submit(.init(run: work, isBarrier: false, caller: nil, edge: .preceded()))
    }

    /// Runs work that was given to the system's threads, or to the shared pool.
    func submit(_ work: @escaping () -> Void, by lane: Lane) {
        point(lane)
        chronicle?.add(lane, .submits(system.name))
        system.submit(.init(run: work, isBarrier: false, caller: nil, edge: .preceded()))
    }

    /// Work has gone where the schedule does not say when it runs.
    func didLeave(for name: String, _ lane: Lane) {
        fail(
            .foreign,
            "'\(lane.name)' gave work to '\(name)', which runs it outside of the simulation. Take a context of the simulation's "
                + "there, or .global, for which the simulation's own stands (law 33).")
    }

    /// Starts a thread of the program.
    func spawn(_ name: String, _ body: @escaping () -> Void) {
        Unseen.begin()
        if let lane = callerOrReport(using: name) {
            add(name, body)
            point(lane)
        }
        Unseen.end()
    }
}
