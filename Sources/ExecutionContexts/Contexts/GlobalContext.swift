internal import CPlatform
public import Dispatch
internal import Synchronization

/// Runs work on the system's shared threads, many jobs at a time.
///
/// It keeps no barriers, since the global queues ignore them: its view `.global.barrier()` does.
/// Work that blocks a thread belongs on `.blocking`.
///
/// Jobs wait in a queue of the library's own. At most one request at a time asks the system for a
/// thread. A worker runs job after job, and requests the next worker if it leaves a job that can
/// start. So no job waits behind a slow one, and submitting a job costs a fraction of submitting it
/// to the system.
///
/// A job that waits by the library's own means - for an `Async`, a view, a section, in
/// `WorkerPool.blocking` - makes room for another job, which then runs on one of the library's own
/// threads. So jobs may wait for one another (law 11).
@safe public struct GlobalContext: ExecutionContext {
    // The queues live as long as the process. Reference counting would have all submitters and
    // workers write to the same few words, which costs more than the rest of a submission.
    private let reference: Unmanaged<GlobalQueue>

    /// Makes the context of one quality of service.
    public init(qos: DispatchQoS.QoSClass = .default) {
        unsafe reference = .passUnretained(GlobalQueue.of(qos))
    }

    public func execute(_ work: consuming @escaping Work) {
        let work = UnmanagedWork(work)
        unsafe reference._withUnsafeGuaranteedRef { globalQueue in
            if SimulationHooks.isAnywhere { return executeSimulated(work) }
            globalQueue.execute(work.assembled())
            globalQueue.makeRoomIfNeeded()
        }
    }

    @inline(never)
    private func executeSimulated(_ work: UnmanagedWork) {
        let work = work.assembled()
        if unsafe SimulationHooks.submit(work, for: globalQueue.identity, named: name) { return }
        globalQueue.execute(work)
        globalQueue.makeRoomIfNeeded()
    }

    /// The system's queue that the threads come from.
    public var queue: DispatchQueue { globalQueue.root.queue }

    /// Yes on this quality of service, otherwise not known (law 4).
    public var isCurrent: Bool? {
        globalQueue.isCurrent == true ? true : globalQueue.root.isCurrent
    }

    public func checkIsCurrent() -> Bool {
        // A substitute's thread is not a thread of the system's queue.
        if globalQueue.isCurrent == true { return true }
        dispatchPrecondition(condition: .onQueue(queue))
        return true
    }

    public var name: String { globalQueue.name }

    public var runsAnywhere: Bool { true }

    public var facts: ContextFacts {
        var facts = ContextFacts()
        facts.isReliable = true
        facts.hasSystemTime = true
        return facts
    }

    private var globalQueue: GlobalQueue { unsafe reference.takeUnretainedValue() }
}

extension ExecutionContext where Self == GlobalContext {
    /// The system's shared threads.
    public static var global: GlobalContext { GlobalContext() }

    /// The system's shared threads, at a quality of service.
    public static func global(qos: DispatchQoS.QoSClass) -> GlobalContext {
        GlobalContext(qos: qos)
    }
}

/// A global queue of the system.
private struct RootQueue: ExecutionContext {
    let queue: DispatchQueue
    let quality: DispatchQoS.QoSClass
    private let mark: QueueMark

    init(_ quality: DispatchQoS.QoSClass) {
        queue = .global(qos: quality)
        self.quality = quality
        mark = .of(queue)
    }

    func execute(_ work: @escaping Work) {
        DispatchStart.requireGlobalQueues()
        queue.async(execute: work)
    }

    var isCurrent: Bool? { mark.isCurrent }

    var facts: ContextFacts {
        var facts = ContextFacts()
        facts.isReliable = true
        return facts
    }
}

/// The jobs in front of a global queue of the system, and the substitutes for those that wait.
///
/// The system has few threads for its queues, and does not know which of them wait for jobs that
/// this queue still has. So for each job that waits by the library's means there may be one
/// substitute: a thread of the library's own that drains this queue.
///
/// | thread | first | then |
/// |---|---|---|
/// | a job that waits | counts itself in `waiting` | looks for queued jobs, under the lock |
/// | a submitter | queues its job, under the lock | looks at `waiting` |
///
/// So at least one of the two sees the other, and starts a substitute.
private final class GlobalQueue: LimitedView, @unchecked Sendable {  // See below.
    // Unchecked for the superclass only: everything here is a sendable constant or an atomic.

    /// How many jobs wait, and how many substitutes there are.
    private let waiting = Atomic<Int>(0)
    private let substitutes = Atomic<Int>(0)
    private let blockingScope = GlobalBlockingScope()
    let root: RootQueue

    private init(_ quality: DispatchQoS.QoSClass, _ name: String) {
        root = RootQueue(quality)
        super.init(base: root, width: .max, name: name)
        unsafe blockingScope.queue = .passUnretained(self)
    }

    override func drain() { blockingScope.occupy { super.drain() } }

    /// Starts a substitute if jobs are queued and other jobs wait; called after a submission.
    @inline(__always)
    func makeRoomIfNeeded() {
        // Relaxed: the queue's lock orders this load after the count of a waiter that found the
        // queue empty.
        if waiting.load(ordering: .relaxed) > 0 { makeRoom() }
    }

    func beginWait() {
        waiting.add(1, ordering: .relaxed)  // Relaxed: see above.
        makeRoom()
    }

    func endWait() { waiting.subtract(1, ordering: .relaxed) }

    @inline(never)
    private func makeRoom() {
        guard canStartJob, reserveSubstitute() else { return }
        let hasCome = LibraryThreads.run(
            .init(name: name, quality: root.quality.number) { [self] in substitute() })
        if !hasCome { substitutes.subtract(1, ordering: .relaxed) }
    }

    /// Counts one more substitute, if there may be one. Relaxed, all of them: the queue's lock
    /// separates these accesses from the jobs.
    private func reserveSubstitute() -> Bool {
        var count = substitutes.load(ordering: .relaxed)
        while count < waiting.load(ordering: .relaxed) {
            let result = substitutes.weakCompareExchange(
                expected: count, desired: count + 1, ordering: .relaxed)
            if result.exchanged { return true }
            count = result.original
        }
        return false
    }

    /// Drains the queue until it is empty, or until the system's own threads suffice.
    private func substitute() {
        repeat {
            // As many substitutes as there may be: each one starts the next.
            makeRoom()
            drain()
            // Sequentially consistent: either a later submitter finds room for a substitute, or
            // this thread finds the job.
            substitutes.subtract(1, ordering: .sequentiallyConsistent)
        } while canStartJob && reserveSubstitute()
    }

    static func of(_ quality: DispatchQoS.QoSClass) -> GlobalQueue {
        switch quality {
        case .background: background
        case .utility: utility
        case .userInitiated: userInitiated
        case .userInteractive: userInteractive
        default: standard
        }
    }

    private static let background = make(.background, "global(background)")
    private static let utility = make(.utility, "global(utility)")
    private static let standard = make(.default, "global")
    private static let userInitiated = make(.userInitiated, "global(userInitiated)")
    private static let userInteractive = make(.userInteractive, "global(userInteractive)")

    private static func make(_ quality: DispatchQoS.QoSClass, _ name: String) -> GlobalQueue {
        SimulationHooks.making { GlobalQueue(quality, name) }
    }
}

/// Notifies a global queue when a thread that drains it waits.
@safe private final class GlobalBlockingScope: BlockingScope, @unchecked Sendable {
    // Unchecked: the queue is written once, before any thread uses this scope. It lives as long as
    // the process.
    var queue: Unmanaged<GlobalQueue>?

    init() { unsafe super.init(for: nil) }

    override func beginWait() { unsafe queue?._withUnsafeGuaranteedRef { $0.beginWait() } }

    override func endWait(_ resumption: Resumption) {
        unsafe queue?._withUnsafeGuaranteedRef { $0.endWait() }
    }

    override func beginCall() { beginWait() }

    override func endCall() { endWait(.atOnce) }
}
