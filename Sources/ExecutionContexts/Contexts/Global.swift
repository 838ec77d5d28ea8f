public import Dispatch

/// Runs work on the system's shared threads, many jobs at a time.
///
/// It has no barriers, since the global queues ignore them: its view `.global.barrier()` has. Work
/// that blocks a thread belongs on `.blocking`.
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
    // The queues live as long as the process. Reference counting would have every submitter and
    // every worker write to the same few words, which costs more than the rest of a submission.
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
        // One of the library's threads, running in place of one that waits, is not a thread of the
        // queue.
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
