internal import ExecutionContexts

extension SimulationScheduler {
    /// The calling thread, if it belongs to this scheduler.
    var caller: SimulatedThread? {
        guard let host = HostThread.current, host.scheduler === self, phase != .over else {
            return nil
        }
        return host.thread
    }

    /// The calling thread; reports a use by a foreign thread.
    func callerOrReport(using name: String) -> SimulatedThread? {
        if let thread = caller { return thread }
        let late = phase == .over ? "after its schedule was over, " : ""
        hosts.report(
            foreign:
                "'\(name)' was used \(late)by a thread that the simulation does not control. Start threads "
                + "with spawn. Threads, queues, timers and executors of the system run outside: give the program test doubles of what "
                + "it gets from them (law 33).")
        return nil
    }

    /// Runs a job on a thread of the simulated system, as a pool without a free thread does.
    func runOnNewThread(_ work: @escaping () -> Void, by thread: SimulatedThread) {
        point(thread)
        let queue = newThreads ?? SimulatedJobQueue(names.unique("the system"), width: 16, on: self)
        newThreads = queue
        trace?.add(thread, .submits(queue.name))
        queue.submit(.init(run: work, isBarrier: false, caller: nil, edge: .released()))
    }

    /// Runs a job submitted to the system's threads, or to the shared pool.
    func submit(_ work: @escaping () -> Void, by thread: SimulatedThread) {
        point(thread)
        trace?.add(thread, .submits(system.name))
        system.submit(.init(run: work, isBarrier: false, caller: nil, edge: .released()))
    }

    /// Reports a job that leaves the simulation: the schedule does not determine when it runs.
    func willSubmitOutside(to name: String, _ thread: SimulatedThread) {
        fail(
            .foreign,
            "'\(thread.name)' gave work to '\(name)', which runs it outside of the simulation. Use a context of the simulation "
                + "there, or .global, which the simulation replaces (law 33).")
    }

    /// Starts a thread of the program.
    func spawn(_ name: String, _ body: @escaping () -> Void) {
        HiddenFromSanitizer.begin()
        if let thread = callerOrReport(using: name) {
            add(name, body)
            point(thread)
        }
        HiddenFromSanitizer.end()
    }
}

// What threads know about the memory.
extension SimulationScheduler {
    /// The memory of a program that uses atomics.
    var usedMemory: SimulatedMemory {
        if let memory { return memory }
        let memory = SimulatedMemory()
        self.memory = memory
        return memory
    }

    /// A task knows all that has happened: if the awaited operation has already ended, the task
    /// continues without a call that the simulation could see.
    func synchronizeTask(_ thread: SimulatedThread) {
        if thread.isOfTasks { memory?.synchronize(thread.id) }
    }

    /// Passes on what a thread knows to the next user of an object.
    func pass(_ kind: Access.Kind, _ word: Word, by thread: SimulatedThread) {
        hosts.order?.use(kind, word)
        guard let memory else { return }
        // Another object may later have the address of an unnamed one.
        memory.use(kind, names.name(of: word) == nil ? nil : word, by: thread.id)
    }
}
