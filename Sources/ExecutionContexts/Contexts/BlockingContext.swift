/// Runs work that blocks its thread - files, locks, synchronous calls - up to a limit at a time
/// (law 11).
///
/// Each job gets one of the library's own threads at once, also if the system's shared threads are
/// busy. A thread without a next job ends. Beyond the limit, jobs are queued in order.
public final class BlockingContext: ExecutionContext, Limiter {
    private struct State: ~Copyable {
        var queue = WorkQueue()
        var threads = 0
        var waitingJobs = WaitingJobs()
    }

    /// How many jobs may run at a time.
    public let limit: Int
    public let name: String
    private let state = Guarded(State())

    fileprivate static let shared = SimulationHooks.making { BlockingContext() }

    /// Makes a context with its own threads. A limit below 1 or above 1,024 traps.
    public init(limit: Int = 64, name: String = "blocking") {
        require(
            limit >= 1,
            "A blocking context with a limit of \(limit) could never run anything (law 1).")
        require(
            limit <= LibraryThreads.limit,
            "A blocking context cannot have \(limit) threads, since a process has \(LibraryThreads.limit) of the "
                + "library's (law 11). Take a smaller limit, or do not block threads.")
        self.limit = limit
        self.name = name
    }

    public func execute(_ work: consuming @escaping Work) {
        SimulationHooks.willSubmitOutside(to: name)
        let work = UnmanagedWork(consume work)
        let threads: Int? = state.withLock { state in
            state.queue.append(work.assembled())
            guard state.threads < limit else { return nil }
            state.threads += 1
            return state.threads
        }
        if let threads { start(isFirst: threads == 1) }
    }

    /// Starts a thread. The system may not refuse the first one; if it refuses another one, the
    /// existing threads run its jobs.
    private func start(isFirst: Bool) {
        if LibraryThreads.run(.init(name: name, isIndispensable: isFirst, body: drain)) { return }
        let isNeeded = state.withLock { state in
            state.threads -= 1
            guard state.threads == 0, !state.queue.isEmpty else { return false }
            state.threads = 1
            return true
        }
        if isNeeded { start(isFirst: true) }
    }

    /// Yes inside its work, no elsewhere, except for law 4's one exception.
    public var isCurrent: Bool? { unsafe Frame.isCurrent(Frame.owner(self)) }

    public var runsAnywhere: Bool { true }

    public var facts: ContextFacts {
        ContextFacts { [self] forecast in
            if isCurrent == true { forecast.limiters.append(self) }
        }
    }

    // Each job has its own thread.
    func jobWaits(for end: AwaitedEnd) -> Bool {
        let jobs = unsafe Frame.jobs(of: Frame.owner(self))
        return state.withLock { $0.waitingJobs.begin(jobs, for: end, reaching: limit) }
    }

    func jobResumes(after end: AwaitedEnd) { state.withLock { $0.waitingJobs.end(end) } }

    @Sendable private func drain() {
        unsafe Frame.enterJobs(of: Frame.owner(self)) {
            while runNext() { Frame.endJob() }
        }
    }

    /// Runs a job and frees it; if there is none (false), the calling thread is no longer counted.
    private func runNext() -> Bool {
        let next: Work? = state.withLock { state in
            if let work = state.queue.popFirst() { return work }
            state.threads -= 1
            return nil
        }
        guard let work = consume next else { return false }
        AutoreleasePool.run(work)
        return true
    }
}

extension ExecutionContext where Self == BlockingContext {
    /// The shared context for work that blocks its thread, 64 jobs at a time.
    public static var blocking: BlockingContext { .shared }
}
