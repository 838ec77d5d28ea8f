/// Runs work that blocks its thread - files, locks, synchronous calls - up to a limit at a time (law 11).
///
/// Each job gets a thread of the library's own at once, also where the system's shared threads are
/// busy, and threads that find nothing more to do end. Beyond the limit, work waits in order.
public final class BlockingContext: ExecutionContext, ForeseeingContext, Limiter {
    private struct State: ~Copyable {
        var waiting = WorkQueue()
        var threads = 0
        var waitingJobs = WaitingJobs()
    }

    /// How many pieces may run at a time.
    public let limit: Int
    public let name: String
    private let state = Guarded(State())

    /// A context with threads of its own. A limit below 1 or above 1,024 stops the program.
    public init(limit: Int = 64, name: String = "blocking") {
        require(
            limit >= 1, "A blocking context with a limit of \(limit) could never run anything (law 1).")
        require(
            limit <= OwnThreads.limit,
            "A blocking context of up to \(limit) threads was asked for, and a process has \(OwnThreads.limit) of the "
                + "library's (law 11). Take a smaller limit, or do not block threads.")
        self.limit = limit
        self.name = name
    }

    public func execute(_ work: consuming @escaping Work) {
        Seam.leaves(for: name)
        let work = LooseWork(consume work)
        let threads: Int? = state.withLock { state in
            state.waiting.append(work.assembled())
            guard state.threads < limit else { return nil }
            state.threads += 1
            return state.threads
        }
        if let threads { start(isFirst: threads == 1) }
    }

    /// Has a thread come. The first one may not be refused; another one's jobs are run by those
    /// that there are.
    private func start(isFirst: Bool) {
        if OwnThreads.run(.init(name: name, isIndispensable: isFirst, body: drain)) { return }
        let isNeeded = state.withLock { state in
            state.threads -= 1
            guard state.threads == 0, !state.waiting.isEmpty else { return false }
            state.threads = 1
            return true
        }
        if isNeeded { start(isFirst: true) }
    }

    /// Yes inside its work, no elsewhere.
    ///
    /// The one exception: work that crossed to another thread through a foreign queue's `sync` (law 4).
    public var isCurrent: Bool? { unsafe Frame.isCurrent(Frame.owner(self)) }

    public var runsAnywhere: Bool { true }

    package func foresee(_ outlook: inout Outlook) {
        if isCurrent == true { outlook.limiters.append(self) }
    }

    // Each job has a thread of its own.
    func jobWaits(for end: AwaitedEnd) -> Bool {
        let jobs = unsafe Frame.jobs(of: Frame.owner(self))
        return state.withLock { $0.waitingJobs.begin(jobs, for: end, reaching: limit) }
    }

    func jobGoesOn(after end: AwaitedEnd) { state.withLock { $0.waitingJobs.end(end) } }

    @Sendable private func drain() {
        unsafe Frame.enterJobs(of: Frame.owner(self)) {
            while let work = next() {
                Batch.run(work)
                Frame.endJob()
            }
        }
    }

    /// The next job; nil if there is none, and the calling thread is given back.
    private func next() -> Work? {
        state.withLock { state in
            if let work = state.waiting.popFirst() { return work }
            state.threads -= 1
            return nil
        }
    }
}

extension ExecutionContext where Self == BlockingContext {
    /// The shared context for work that blocks its thread, 64 pieces at a time.
    public static var blocking: BlockingContext { .shared }
}

extension BlockingContext {
    static let shared = Seam.making { BlockingContext() }
}
