internal import CPlatform

/// How a coordinator excludes its callers: the slow paths in, and the queues.
///
/// | strategy | excludes by | a read or a write that waits |
/// |---|---|---|
/// | `LockExclusion` | the word, and queues under its own lock | runs on the caller |
/// | `BarrierExclusion` | a context with barriers | is a job of that context |
///
/// The fast paths and the way out are the coordinator's: they need only the word.
protocol ReadWriteExclusion: AnyObject, Sendable {
    var name: String { get }
    /// The context that runs the enqueued writes.
    var writeContext: any ExecutionContext { get }
    var admission: Admission { get }

    /// Enters a reader that could not take the fast path; nil if `deadline` came first.
    ///
    /// With `hasAnnounced` the first slot of the thread has an announcement to be withdrawn.
    func enterToRead(_ thread: ThreadRecord, hasAnnounced: Bool, until deadline: Int64)
        -> ReadEntry?

    /// Enters a writer, which is not writing already.
    func enterToWrite(_ thread: ThreadRecord, until deadline: Int64) -> WriteEntry

    /// Admits the next waiters, after a caller has left.
    func admitNext(_ thread: ThreadRecord)

    /// Submits a write. With `later`, it does not begin inside the call.
    func enqueueWrite(_ write: consuming @escaping Work, later: Bool)

    /// Submits a read, which no thread waits for. It runs after the writes before it.
    func enqueueRead(_ read: consuming @escaping Work)

    /// Holds the coordinator for the caller until the release, like a blocking write without a
    /// body.
    func hold() -> ExclusiveHold

    /// Adds what a write waits for, on behalf of a caller that is not inside.
    func foreseeWrite(_ forecast: inout WaitForecast)
}

extension ReadWriteExclusion {
    func refuseWriteInsideRead(_ thread: ThreadRecord) {
        require(
            unsafe !admission.isReading(thread),
            "A blocking write on '\(name)' from inside a read of it would wait for that read to end (law 18). "
                + "Use enqueueWrite, which runs after the read, or write before reading.")
    }
}

/// How a reader entered, which decides how it leaves.
@usableFromInline
enum ReadEntry: UInt8 {
    /// By announcement in the first slot of its thread.
    case first
    /// By announcement in a pushed slot, since the first one was taken.
    case announced
    /// Counted in the word.
    case counted
    /// Inside a read or a write of the same thread.
    case nested
    /// Inside a hold of the caller, which is held once more: another thread may release it.
    case held
    /// Not yet: `BarrierExclusion` runs the read.
    case byContext
}

/// How a writer entered.
@usableFromInline
enum WriteEntry: UInt8 {
    case alone
    /// Inside a write of the same thread.
    case nested
    /// Inside a hold of the caller, which is held once more: another thread may release it.
    case held
    /// Not yet: `BarrierExclusion` runs the write.
    case byContext
    /// Not at all: the deadline came first.
    case late
}
