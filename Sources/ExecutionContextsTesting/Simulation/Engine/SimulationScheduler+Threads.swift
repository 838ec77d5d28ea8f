// The threads of a schedule.
extension SimulationScheduler {
    /// Adds the first thread, which builds the program.
    func begin(_ body: @escaping () -> Void) -> SimulatedThread {
        add(SimulatedThread(id: 0, name: Names.body, body: body))
    }

    /// Adds a thread that can run; returns nil, with a failure, if there are too many.
    @discardableResult
    func add(_ name: String, queue: SimulatedJobQueue? = nil, _ body: @escaping () -> Void)
        -> SimulatedThread?
    {
        guard hasRoom else {
            failForTooManyThreads()
            return nil
        }
        // A serial context and the thread that serves it share one name.
        return add(
            SimulatedThread(
                id: threads.count, name: queue == nil ? names.unique(name) : name, queue: queue,
                body: body))
    }

    var hasRoom: Bool { threads.count < Schedule.mostThreads }

    func failForTooManyThreads() {
        fail(.misuse, "More than \(Schedule.mostThreads) threads were started: simulate fewer.")
    }

    private func add(_ thread: SimulatedThread) -> SimulatedThread {
        hosts.setName(of: thread.id, to: thread.name)
        append(thread)
        ready |= 1 << UInt64(thread.id)
        log?.cause(thread.id)
        return thread
    }

    private func append(_ thread: SimulatedThread) {
        thread.edge.release()
        log?.add(.writes, .threads)
        if let memory, let caller { memory.pass(from: caller.id, to: thread.id) }
        // Moved out and back: a variable that is never mutated in place is read without exclusivity
        // checks, at each scheduling point.
        var all = threads
        threads = []
        all.append(thread)
        threads = all
    }

    /// Adds a thread that runs tasks, without a job; nil if there are too many threads.
    func addTaskThread() -> SimulatedThread? {
        guard hasRoom else { return nil }
        let thread = hosts.taskThread(threads.count)
        thread.state = .idle
        log?.hasTasks = true
        append(thread)
        return thread
    }

    func wake(_ thread: SimulatedThread) {
        thread.state = .ready
        ready |= 1 << UInt64(thread.id)
        timed &= ~(1 << UInt64(thread.id))
        log?.cause(thread.id)
        if let memory, let caller { memory.wake(thread.id, by: caller.id) }
    }

    func suspend(_ thread: SimulatedThread, _ state: SimulatedThread.State) {
        thread.state = state
        ready &= ~(1 << UInt64(thread.id))
    }
}
