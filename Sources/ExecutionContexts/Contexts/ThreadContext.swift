public import Dispatch
internal import Synchronization

/// Runs work in order on a thread of its own: for libraries that need the same thread each time.
///
/// The thread begins with the context, and runs nothing else. It ends when the context is gone and
/// its work done. No work is dropped (law 10). A thread that serves a run loop as well has
/// `RunLoopThreadContext`.
public final class ThreadContext: ActorBackingContext {
    public let name: String
    private let jobs = ThreadJobs()

    /// Starts a thread. Traps where the system has none.
    public init(name: String, qos: DispatchQoS.QoSClass = .default) {
        self.name = name
        LibraryThreads.start(named: name, quality: qos.number) { [jobs] in jobs.serve() }
    }

    deinit { jobs.finish() }

    public func execute(_ work: consuming @escaping Work) {
        SimulationHooks.willSubmitOutside(to: name)
        jobs.add(consume work)
    }

    /// Yes on the thread, no on every other; not known if the thread waits for the caller (law 4).
    ///
    /// A body that another thread runs for this thread by `sync` is a part of this thread's work,
    /// and does not run on this thread.
    public var isCurrent: Bool? { jobs.isCurrent }

    public var facts: ContextFacts {
        ContextFacts { [self] forecast in
            if isCurrent != false { forecast.obstacle = name }
        }
    }
}

extension ExecutionContext where Self == ThreadContext {
    /// A new thread of its own.
    public static func thread(
        named name: String, qos: DispatchQoS.QoSClass = .default
    ) -> ThreadContext {
        ThreadContext(name: name, qos: qos)
    }
}

/// The jobs of one thread, which the thread itself keeps alive.
private final class ThreadJobs: Sendable {
    /// | the thread | `isAsleep` | `queue` | next |
    /// |---|---|---|---|
    /// | runs jobs | no | any | takes a job; falls asleep if there is none |
    /// | sleeps | yes | empty | `add` or `finish` wakes it, once |
    /// | has ended | no | empty | nothing: `isFinished`, and nothing refers to the context |
    private struct State: ~Copyable {
        var queue = WorkQueue()
        var isAsleep = false
        var isFinished = false
    }

    private let state = Guarded(State())
    private let parkWord = ParkWord()
    /// The address of the thread's record; zero until it runs. Relaxed: every other thread gets the
    /// same answer, whether it sees the address or not.
    private let record = Atomic<UInt>(0)

    var isCurrent: Bool? {
        let address = record.load(ordering: .relaxed)
        if unsafe UInt(bitPattern: Threads.own) == address { return true }
        return unsafe UInt(bitPattern: Threads.current) == address ? nil : false
    }

    func add(_ work: consuming @escaping Work) {
        let work = UnmanagedWork(consume work)
        let wakes = state.withLock { state in
            state.queue.append(work.assembled())
            return exchange(&state.isAsleep, with: false)
        }
        if wakes { parkWord.unpark() }
    }

    func finish() {
        let wakes = state.withLock { state in
            state.isFinished = true
            return exchange(&state.isAsleep, with: false)
        }
        if wakes { parkWord.unpark() }
    }

    func serve() {
        unsafe record.store(UInt(bitPattern: Threads.own), ordering: .relaxed)
        while hasWork() {
            unsafe Frame.enterJobs(of: Frame.owner(self)) {
                while runNext() { Frame.endJob() }
            }
        }
    }

    /// Runs a job and frees it; false if there is none.
    private func runNext() -> Bool {
        guard let work = state.withLock({ $0.queue.popFirst() }) else { return false }
        AutoreleasePool.run(work)
        return true
    }

    /// Sleeps until there is a job (true), or the context is gone (false).
    private func hasWork() -> Bool {
        while true {
            let answer: Bool? = state.withLock { state in
                if !state.queue.isEmpty { return true }
                if state.isFinished { return false }
                state.isAsleep = true
                return nil
            }
            if let answer { return answer }
            parkWord.park()
        }
    }
}
