internal import ExecutionContexts

// What usually does not happen: the schedule decides where it does.
extension SimulatedWorld {
    /// Whether something happens here that usually does not, such as a fault.
    ///
    /// ```swift
    /// let report = search("lossy network") { sim in
    ///     let answer = Tracked("", name: "answer")
    ///     sim.spawn("server") { if !sim.chance("the answer is lost") { answer.value = "42" } }
    ///     sim.finally("answered") { answer.value == "42" }
    /// }
    /// ```
    ///
    /// It is a scheduling point. The schedule decides, so the decision is searched, shrunk and
    /// replayed like the order of threads: a failure names the chances that it needs. In the usual
    /// order, which runs first, none happens. `.exhaustive` tries both answers at each call.
    public func chance(_ name: String) -> Bool {
        HiddenFromSanitizer.begin()
        defer { HiddenFromSanitizer.end() }
        return scheduler.chance(name)
    }

    /// One of several values: usually the first one, and by chance any other.
    ///
    /// ```swift
    /// let report = search("server with faults") { sim in
    ///     let status = Tracked(0, name: "status")
    ///     sim.spawn("server") { status.value = sim.choice("answers", of: [200, 404, 503]) }
    ///     sim.finally("found") { status.value != 404 }
    /// }
    /// ```
    ///
    /// Traps if there is no value.
    public func choice<Value>(_ name: String, of values: [Value]) -> Value {
        guard let usual = values.first else {
            fatalError(
                "sim.choice(\"\(name)\") has no values to choose from. Pass the usual value first (law 33)."
            )
        }
        for value in values.dropFirst() where chance("\(name) \(value)") { return value }
        return usual
    }
}

extension SimulationScheduler {
    func chance(_ name: String) -> Bool {
        guard let thread = callerOrReport(using: name) else { return false }
        point(thread)
        return decides(name, thread)
    }

    /// Whether something happens by chance in the step that runs.
    func decides(_ name: @autoclosure () -> String, _ thread: SimulatedThread) -> Bool {
        guard phase == .running || phase == .settingUp, !isFair else { return false }
        thread.operations += 1
        let happens = chooser.chance(
            Situation(
                thread: thread.id, operation: thread.operations, stays: true, yields: false,
                creates: false, candidates: 1 << UInt64(thread.id), hasTime: false,
                usual: thread.id, threads: threads))
        note(thread, happens ? Schedule.chance : thread.id, usual: thread.id)
        if happens { trace?.didHappen(name(), in: thread) }
        return happens
    }
}
