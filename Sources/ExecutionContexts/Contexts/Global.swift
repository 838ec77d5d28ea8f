public import Dispatch

/// Runs work on the threads that the system shares out, many pieces at a time.
///
/// It has no barriers, since the global queues ignore them: `.global.barrier()` is a view that has. Work
/// that blocks a thread belongs on `.blocking`.
///
/// Work waits in a line of the library's own, and one request at a time asks the system for a thread: a worker
/// that comes takes piece after piece and asks for the next one if it leaves anything behind. So no piece is
/// hidden behind a slow one, and handing over a piece costs a fraction of handing it to the system.
///
/// A job that waits by the library's own means - for an `Async`, a view, a section, in
/// `WorkerPool.blocking` - makes room for another one, which then runs on a thread of the library's
/// own. So jobs may wait for one another (law 11).
@safe public struct GlobalContext: ExecutionContext {
    // The lines live as long as the program. Counting references to them would have every submitter and every
    // worker write to the same few words, which costs more than all the rest of a submission.
    private let reference: Unmanaged<GlobalLine>

    /// The context of one quality of service.
    public init(qos: DispatchQoS.QoSClass = .default) {
        unsafe reference = .passUnretained(GlobalLine.of(qos))
    }

    public func execute(_ work: consuming @escaping Work) {
        let work = LooseWork(work)
        unsafe reference._withUnsafeGuaranteedRef { line in
            if Seam.isAnywhere { return executeSimulated(work) }
            line.execute(work.assembled())
            line.makeRoomIfShort()
        }
    }

    @inline(never)
    private func executeSimulated(_ work: LooseWork) {
        let work = work.assembled()
        if unsafe Seam.submit(work, for: line.identity) { return }
        line.execute(work)
        line.makeRoomIfShort()
    }

    /// The system's queue that the threads come from.
    public var queue: DispatchQueue { line.base.queue }

    /// Yes on this quality of service, otherwise not known (law 4).
    public var isCurrent: Bool? { line.isCurrent == true ? true : line.base.isCurrent }

    public func checkIsCurrent() -> Bool {
        // A thread of the library's own, in the place of one that waits, is no thread of the queue.
        if line.isCurrent == true { return true }
        dispatchPrecondition(condition: .onQueue(queue))
        return true
    }

    public var name: String { line.name }

    public var runsAnywhere: Bool { true }

    private var line: GlobalLine { unsafe reference.takeUnretainedValue() }
}

extension ExecutionContext where Self == GlobalContext {
    /// The threads that the system shares out.
    public static var global: GlobalContext { GlobalContext() }

    /// The threads that the system shares out, at a quality of service.
    public static func global(qos: DispatchQoS.QoSClass) -> GlobalContext { GlobalContext(qos: qos) }
}

extension GlobalContext: ReliableContext {}
