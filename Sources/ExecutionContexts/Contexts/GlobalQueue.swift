internal import CPlatform
internal import Dispatch
internal import Synchronization

/// A global queue of the system.
struct RootQueue: ExecutionContext {
    let queue: DispatchQueue
    let quality: DispatchQoS.QoSClass
    private let mark: QueueMark

    fileprivate init(_ quality: DispatchQoS.QoSClass) {
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

/// The queue of jobs in front of a global queue of the system, and the substitutes for waiting
/// jobs.
///
/// The system has few threads for its queues, and does not know which of them wait for jobs that
/// are still queued here. So for each job that waits by the library's means there may be one
/// substitute: a thread of the library's own that drains this queue.
///
/// | thread | first | then |
/// |---|---|---|
/// | a job that waits | counts itself in `waiting` | looks for queued jobs, under the lock |
/// | a submitter | queues its job, under the lock | looks at `waiting` |
///
/// So at least one of the two sees the other, and starts a substitute.
final class GlobalQueue: LimitedView, @unchecked Sendable {  // See below.
    // Unchecked for the superclass only: everything here is a sendable constant or an atomic.

    /// How many jobs wait.
    private let waiting = Atomic<Int>(0)
    /// How many substitutes there are.
    private let substitutes = Atomic<Int>(0)

    private let blockingScope: GlobalBlockingScope

    let root: RootQueue

    private init(_ quality: DispatchQoS.QoSClass, _ name: String) {
        blockingScope = GlobalBlockingScope()
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

    fileprivate func beginWait() {
        waiting.add(1, ordering: .relaxed)  // Relaxed: see above.
        makeRoom()
    }

    fileprivate func endWait() { waiting.subtract(1, ordering: .relaxed) }

    @inline(never)
    private func makeRoom() {
        guard canStartJob, reserveSubstitute() else { return }
        let hasCome = LibraryThreads.run(
            .init(name: name, quality: root.quality.number) { [self] in substitute() })
        if !hasCome { substitutes.subtract(1, ordering: .relaxed) }
    }

    /// Counts one more substitute, if there may be one.
    ///
    /// Relaxed, all of them: the queue's lock stands between these accesses and the jobs.
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

    // MARK: - The queues

    static func of(_ quality: DispatchQoS.QoSClass) -> GlobalQueue {
        switch quality {
        case .background: background
        case .utility: utility
        case .userInitiated: userInitiated
        case .userInteractive: userInteractive
        default: standard
        }
    }

    private static let background = SimulationHooks.making {
        GlobalQueue(.background, "global(background)")
    }
    private static let utility = SimulationHooks.making { GlobalQueue(.utility, "global(utility)") }
    private static let standard = SimulationHooks.making { GlobalQueue(.default, "global") }
    private static let userInitiated = SimulationHooks.making {
        GlobalQueue(.userInitiated, "global(userInitiated)")
    }
    private static let userInteractive = SimulationHooks.making {
        GlobalQueue(.userInteractive, "global(userInteractive)")
    }
}

/// The blocking scope of the threads that drain a queue: notifies the queue when one of them waits.
@safe private final class GlobalBlockingScope: BlockingScope, @unchecked Sendable {
    // Unchecked: the queue is written once, before any thread uses this scope. It lives as long as
    // the process.
    fileprivate var queue: Unmanaged<GlobalQueue>?

    init() { unsafe super.init(for: nil) }

    override func beginWait() { unsafe queue?._withUnsafeGuaranteedRef { $0.beginWait() } }

    override func endWait(_ resumption: Resumption) {
        unsafe queue?._withUnsafeGuaranteedRef { $0.endWait() }
    }

    override func beginCall() { beginWait() }

    override func endCall() { endWait(.atOnce) }
}
