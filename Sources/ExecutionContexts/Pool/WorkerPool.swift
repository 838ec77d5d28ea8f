public import Dispatch

/// Runs work on few threads of its own, at a fraction of what handing it to the system costs.
///
/// ```swift
/// let pool = WorkerPool(name: "thumbnails", width: 2)
/// pool.execute { print("drawn") }
/// try await pool.shutDown().get()
/// ```
///
/// At most `width` jobs are getting on at a time. A job that waits for something makes room for
/// another one: at once where the library knows of the wait, as it does of its own and of
/// `WorkerPool.blocking`, else within a few hundredths of a second. So jobs may wait for one
/// another. There are `limit` threads at the most, which come from the 1,024 of the process. A pool
/// that has had nothing to do for a hundredth of a second has none. Law 11 says what holds after a
/// wait.
///
/// Work begins in the order of submission, more or less: workers take from each other, and of what one piece submits in the
/// hundreds the newest may come first. So nothing may rely on it. For order take `serial()`. What most programs need is ``ExecutionContext/pool``, which is shared and never shut down.
public final class WorkerPool: RefusingContext, ForeseeingContext {
    let core: PoolCore
    private let priority: WorkPriority

    /// A pool of its own. A width or a limit below 1, a limit below the width or above 1,024 stops
    /// the program.
    ///
    /// The width is the number of processors that the program may use, unless you say otherwise.
    public convenience init(
        name: String = "pool", width: Int? = nil, limit: Int = 64, qos: DispatchQoS = .default
    ) {
        let width = width ?? min(Processors.count, limit)
        require(
            limit <= OwnThreads.limit,
            "A pool of up to \(limit) threads was asked for, and all pools of a process together have "
                + "\(OwnThreads.limit) (law 11). Take a smaller limit, or do not block threads.")
        require(
            1 <= width && width <= limit,
            "A pool of \(width) workers at a time and \(limit) in all could not run anything (law 1). "
                + "Both must be 1 or more, and the limit no less than the width.")
        self.init(PoolCore(name: name, width: width, limit: limit, quality: qos.qosClass.number), .medium)
    }

    init(_ core: PoolCore, _ priority: WorkPriority) {
        self.core = core
        self.priority = priority
    }

    public var name: String { priority == .medium ? core.name : "\(core.name)(\(priority))" }

    /// Submits work. After `shutDown()` it stops the program; `tryExecute` says so instead (law 1).
    public func execute(_ work: consuming @escaping Work) {
        if !core.submit(LooseWork(consume work), priority) {
            stopMisuse(
                "Work was submitted by execute to '\(name)', which has been shut down (law 1). "
                    + "Submit by tryExecute, run or submit, which say so, or before the shutdown.")
        }
    }

    public func execute(
        _ work: consuming @escaping Work, refused: @escaping @Sendable (Refusal) -> Void
    ) {
        if !core.submit(LooseWork(consume work), priority) { refused(refusal) }
    }

    public func tryExecute(_ work: consuming @escaping Work) throws(Refusal) {
        if !core.submit(LooseWork(consume work), priority) { throw refusal }
    }

    // What comes by this has been accepted already, and is run after a shutdown, too.
    public func enqueue(_ work: consuming @escaping Work) {
        _ = core.submit(LooseWork(consume work), priority, isAccepted: true)
    }

    /// Yes in the pool's work, no elsewhere; the one exception is law 4's.
    public var isCurrent: Bool? { unsafe Frame.isCurrent(Frame.owner(core)) }

    public var runsAnywhere: Bool { true }

    package func foresee(_ outlook: inout Outlook) { core.foresee(&outlook) }

    /// The same pool for work of another priority.
    public func prioritized(_ priority: WorkPriority) -> WorkerPool { WorkerPool(core, priority) }

    /// What the pool is doing, and what it has done.
    public var statistics: PoolStatistics { PoolStatistics(of: core) }

    private var refusal: Refusal { Refusal(.shutDown, by: name) }

    /// Runs `body`, which waits for something: if this thread is a pool's or `.global`'s, another
    /// job may run meanwhile.
    ///
    /// For waiting that the library cannot know of: files, sockets, locks and semaphores of others.
    /// Afterwards a job of a pool waits for a place, so that the pool keeps its width (law 11). On
    /// other threads it costs nothing.
    public static func blocking<Value, Failure: Error>(
        _ body: () throws(Failure) -> Value
    ) throws(Failure) -> Value {
        try LentThread.waiting(then: .whenThereIsRoom, body)
    }
}
