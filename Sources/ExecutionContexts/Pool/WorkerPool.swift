public import Dispatch

/// Runs jobs on few threads of its own, at a fraction of what handing them to the system costs.
///
/// ```swift
/// let pool = WorkerPool(name: "thumbnails", width: 2)
/// pool.execute { print("drawn") }
/// try await pool.shutDown().get()
/// ```
///
/// At most `width` jobs run at a time. A job that waits makes room for another one: at once where
/// the library knows of the wait, as it does of its own waits and of `WorkerPool.blocking`, else
/// within a few hundredths of a second. So jobs may wait for one another. The pool has at most
/// `limit` threads, which come from the 1,024 of the process. A pool that has been idle for a
/// hundredth of a second has none. Law 11 says what holds after a wait.
///
/// Jobs begin in the order of submission only roughly: workers steal from each other, and of
/// hundreds that one job submits the newest may come first. For order use `serial()`. Most programs
/// need only ``ExecutionContext/pool``, which is shared and never shut down.
public final class WorkerPool: RefusingContext {
    let core: PoolCore
    private let priority: WorkPriority

    /// Makes a pool. Traps if the width or the limit is below 1, or the limit is below the width or
    /// above 1,024.
    ///
    /// The width is the number of processors that the program may use, unless you pass another one.
    public convenience init(
        name: String = "pool", width: Int? = nil, limit: Int = 64, qos: DispatchQoS = .default
    ) {
        let width = width ?? min(Processors.count, limit)
        require(
            limit <= LibraryThreads.limit,
            "A pool has a limit of \(limit) threads, and all pools of a process together have "
                + "\(LibraryThreads.limit) (law 11). Pass a smaller limit, or do not block threads."
        )
        require(
            1 <= width && width <= limit,
            "A pool of \(width) workers at a time and \(limit) in all could not run anything (law 1). "
                + "Both must be 1 or more, and the limit no less than the width.")
        self.init(
            PoolCore(name: name, width: width, limit: limit, qos: qos.qosClass.number), .medium)
    }

    init(_ core: PoolCore, _ priority: WorkPriority) {
        self.core = core
        self.priority = priority
    }

    public var name: String { priority == .medium ? core.name : "\(core.name)(\(priority))" }

    /// Submits a job. Traps after `shutDown()`; `tryExecute` throws instead (law 1).
    public func execute(_ work: consuming @escaping Work) {
        if !core.submit(UnmanagedWork(consume work), priority) {
            stopMisuse(
                "A job was submitted by execute to '\(name)', which has been shut down (law 1). "
                    + "Use tryExecute, run or submit, which report a refusal, or submit before the shutdown."
            )
        }
    }

    public func execute(
        _ work: consuming @escaping Work, refused: consuming @escaping @Sendable (Refusal) -> Void
    ) {
        if !core.submit(UnmanagedWork(consume work), priority) { refused(refusal) }
    }

    public func tryExecute(_ work: consuming @escaping Work) throws(Refusal) {
        if !core.submit(UnmanagedWork(consume work), priority) { throw refusal }
    }

    // These jobs have been accepted already, and run after a shutdown, too.
    public func enqueue(_ work: consuming @escaping Work) {
        _ = core.submit(UnmanagedWork(consume work), priority, isAccepted: true)
    }

    /// True in the pool's jobs, false elsewhere; the one exception is that of law 4.
    public var isCurrent: Bool? { unsafe Frame.isCurrent(Frame.owner(core)) }

    public var runsAnywhere: Bool { true }

    public var facts: ContextFacts {
        ContextFacts { [core] in core.foresee(&$0) }
    }

    /// The same pool, for jobs of another priority.
    public func prioritized(_ priority: WorkPriority) -> WorkerPool { WorkerPool(core, priority) }

    /// What the pool is doing, and what it has done since it was made.
    public var statistics: PoolStatistics { PoolStatistics(of: core) }

    private var refusal: Refusal { Refusal(.shutDown, by: name) }

    /// Runs `body`, which waits: on a thread of a pool or of `.global`, another job may run
    /// meanwhile.
    ///
    /// For waits that the library cannot know of: files, sockets, foreign locks and semaphores.
    /// Afterwards a job of a pool waits for a permit, so that the pool keeps its width (law 11). On
    /// other threads it costs nothing.
    public static func blocking<Value, Failure: Error>(
        _ body: () throws(Failure) -> Value
    ) throws(Failure) -> Value {
        try BlockingScope.waiting(then: .whenThereIsRoom, body)
    }
}

/// How urgent a job is, beside others that are queued at the same context.
///
/// A queue with priorities has one queue for each of the five. A pool has three: urgent jobs
/// (`high` and `highest`), the rest, and low-priority jobs (`low` and `lowest`). None starves in a
/// pool: where all three have jobs all the time, urgent jobs get four fifths of a worker's time
/// beside the rest, and low-priority jobs a ninth.
public enum WorkPriority: Int, Hashable, Comparable, Sendable, CaseIterable {
    /// Begins after all others; on a pool, like `low`.
    case lowest
    /// Begins when no other job is queued; on a pool also when it has waited for long.
    case low
    /// Begins after `high` and before `low`.
    case medium
    /// Begins before `medium`.
    case high
    /// Begins before all others; on a pool, like `high`.
    case highest

    public static func < (left: Self, right: Self) -> Bool { left.rawValue < right.rawValue }
}

/// What a pool is doing, and what it has done since it was made.
///
/// Each figure is right at some moment of the call, and not all of them at the same moment.
public struct PoolStatistics: Hashable, Sendable {
    /// How many jobs may run at a time.
    public let width: Int
    /// How many workers have a job, or search for one.
    public let active: Int
    /// How many of the active workers wait, as far as is known.
    public let waiting: Int
    /// How many workers have a thread: the active ones, and those that keep theirs for a moment.
    public let workers: Int
    /// How many jobs have been submitted and not begun.
    ///
    /// A job that moves between two queues during the call may be missed, or counted twice.
    public let pending: Int
    /// How many jobs have been begun.
    public let begun: Int
    /// How many jobs may run beyond the width of the pool now (law 11).
    ///
    /// These are the jobs that were found asleep in a wait that the library does not know of, and
    /// those that have continued without a permit. Of the jobs that are under way and do not wait
    /// by the library's means there are never more than `width + substitutes`.
    public let substitutes: Int
    /// How often a job was found asleep in a wait that the library does not know of.
    ///
    /// Put ``WorkerPool/blocking(_:)`` around such a wait. A pool whose jobs only compute has none,
    /// but for jobs that slept for long in the system.
    public let stalls: Int

    init(of core: PoolCore) {
        width = core.width
        (active, waiting, workers, substitutes, stalls) = core.accounting.withLock {
            ($0.active, $0.active - $0.running, $0.threads, $0.substitutes, $0.stalls)
        }
        pending = core.pendingCount
        begun = (0..<core.count).reduce(0) { $0 + core.worker($1).begunCount }
    }
}
