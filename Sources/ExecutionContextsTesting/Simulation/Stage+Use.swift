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
