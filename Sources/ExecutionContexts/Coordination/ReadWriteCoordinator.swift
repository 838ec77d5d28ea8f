internal import CPlatform
public import Synchronization

/// A reader-writer lock: reads run side by side on their callers, and writes run alone, in order.
///
/// ```swift
/// let coordinator = ReadWriteCoordinator()
/// coordinator.enqueueWrite { settings.language = "en" }
/// let language = coordinator.read { settings.language }
/// ```
///
/// A read runs on the caller, at once where no write waits or runs. An enqueued write runs later,
/// on the write context or on a thread that waits for it. Writes run in the order of their
/// submission. A read sees every write that was submitted before it and none that was submitted
/// after (law 17): in the example, `language` is "en".
///
/// - Nesting: a read inside a read or a write runs at once, also while a write waits (law 18). So
///   does a blocking write inside a write. A blocking write inside a read would wait for that read:
///   it traps with a message. An enqueued write inside either runs later. Nested reads of several
///   coordinators need one order everywhere, as locks do: a read waits for the writes before it,
///   and those wait for the readers inside. A write context that runs one job at a time is part of
///   that order: a job on it delays the writes, and with them the readers behind them (law 20).
/// - Priority: the coordinator has no priority inheritance. A waiter is overtaken for a bounded
///   time only, whatever its priority.
/// - Waiting: a reader that must wait runs the writes before it itself in two cases: if jobs of the
///   write context may run anywhere, as those of the global context, and the reader's thread is not
///   the main one, unless `sparingMain` is false; or if the reader runs on the write context. So no
///   number of waiting readers exhausts the pool (law 20). Such a write runs inside whatever the
///   reader is inside of, and sees the reader's task and task-locals.
/// - Fairness: no reader and no writer starves (law 17).
/// - Lifetime: enqueued writes run, also after the coordinator is released (law 19). If the write
///   context refuses or drops a drain, the writes run on the global context.
///
/// Use it for state that many threads read on hot paths and some change. For state that is mostly
/// changed, a `CriticalSection` is simpler. For state that only async code uses, use an actor.
@safe
public final class ReadWriteCoordinator: Sendable {
    let exclusion: any ReadWriteExclusion
    /// The handle of the exclusion, which owns it, for the fast paths.
    @usableFromInline let admission: Admission
    /// Kept, since it may be the executor of an actor that keeps the coordinator; nil in its twin.
    private let writingSide: WritingContext?

    /// Makes a coordinator whose enqueued writes run on `writeContext`.
    ///
    /// An inline write context, such as `.immediate`, runs a write before `enqueueWrite` returns,
    /// if no reader or writer is inside.
    ///
    /// `sparingMain` says whether the main thread, when it must wait to read, leaves the writes
    /// before it to another thread, and is woken after them. Pass false if the writes are short:
    /// then the main thread runs them itself, as any other thread does (law 20).
    public convenience init(
        name: String = "coordinator",
        writesOn writeContext: some ExecutionContext = GlobalContext(), sparingMain: Bool = true
    ) {
        self.init(
            LockExclusion(name: name, writeContext: writeContext, sparesMain: sparingMain))
    }

    /// Makes a coordinator over a context: reads are jobs of it, and writes are barriers.
    ///
    /// Use it for state that jobs on a queue of yours use as well: those jobs count as reads, the
    /// barriers of the queue as writes. A read costs what `sync` of the context costs. The nesting
    /// rules hold (law 18). A waiting thread runs no writes itself. A call with a time limit runs
    /// its body on a thread of the context, and with a limit of zero only inside an access that is
    /// under way.
    public convenience init(name: String? = nil, over context: some SynchronousBarrierContext) {
        self.init(BarrierExclusion(name: name ?? context.name, over: context))
    }

    /// With `isTwin` it is for what another coordinator keeps, which must not keep that one.
    private init(_ exclusion: some ReadWriteExclusion, isTwin: Bool = false) {
        self.exclusion = exclusion
        admission = exclusion.admission
        writingSide =
            isTwin ? nil : WritingContext(ReadWriteCoordinator(exclusion, isTwin: true))
    }

    /// The writing side as a context: `execute` is `enqueueWrite`, `sync` is `blockingWrite`.
    public var writing: WritingContext { writingSide ?? WritingContext(self) }

    /// The name, for messages and tools.
    public var name: String { exclusion.name }

    // MARK: Reading

    /// Runs `body` on the caller, beside other reads; returns its value or throws its error (law
    /// 17).
    ///
    /// A task that must not block a thread while it waits uses `readAsync`.
    @inlinable @inline(__always)
    public func read<Value, Failure: Error>(
        _ body: () throws(Failure) -> Value
    ) throws(Failure) -> Value {
        let thread = unsafe Threads.current
        // Without a limit, the wait ends inside.
        let entry = unsafe enter(thread, until: .max).unsafelyUnwrapped
        defer { unsafe leave(entry, thread) }
        return try entry == .byContext ? runByContext(writes: false, body) : body()
    }

    /// Runs `body` like `read` if it can begin in time, or runs nothing and returns nil (law 15).
    ///
    /// Zero and negative mean "only if it can begin at once". A reader with a time limit does not
    /// run the writes before it, which may take any time, unless it runs on the write context.
    public func read<Value, Failure: Error>(
        timeout: Duration, _ body: () throws(Failure) -> Value
    ) throws(Failure) -> Value? {
        let deadline = TimeLimit.after(timeout)
        let thread = unsafe Threads.current
        guard let entry = unsafe enter(thread, until: deadline) else { return nil }
        defer { unsafe leave(entry, thread) }
        return try entry == .byContext
            ? barriers.run(writes: false, until: deadline, body) : body()
    }

    // MARK: Writing

    /// Runs `write` later, alone, after everything submitted before it (law 17).
    ///
    /// It runs on the write context, or on a thread that waits for it (law 20).
    public func enqueueWrite(_ write: consuming @escaping Work) {
        exclusion.enqueueWrite(consume write, later: false)
    }

    /// Runs `body` on the caller, alone, after the writes submitted before it; returns its value.
    ///
    /// An error that `body` throws comes through. Inside a write of this coordinator it runs at
    /// once. Inside a read it traps (law 18). A task that must not block a thread uses
    /// `writeAsync`.
    @inlinable
    public func blockingWrite<Value, Failure: Error>(
        _ body: () throws(Failure) -> Value
    ) throws(Failure) -> Value {
        let thread = unsafe Threads.current
        // Without a limit, the wait ends inside.
        let entry = unsafe beginWriting(thread, until: .max).unsafelyUnwrapped
        defer { unsafe leaveSlowly(entry, thread) }
        return try entry == .byContext ? runByContext(writes: true, body) : body()
    }

    /// Runs `body` like `blockingWrite` if it can begin in time, or runs nothing and returns nil
    /// (law 15).
    ///
    /// Zero and negative mean "only if it can begin at once". A writer with a time limit does not
    /// run the writes before it, as a reader with one does not.
    public func blockingWrite<Value, Failure: Error>(
        timeout: Duration, _ body: () throws(Failure) -> Value
    ) throws(Failure) -> Value? {
        let deadline = TimeLimit.after(timeout)
        let thread = unsafe Threads.current
        guard let entry = unsafe beginWriting(thread, until: deadline) else { return nil }
        defer { unsafe leaveSlowly(entry, thread) }
        return try entry == .byContext
            ? barriers.run(writes: true, until: deadline, body) : body()
    }

    /// The exclusion that lets its callers enter by the context.
    private var barriers: BarrierExclusion {
        unsafe (exclusion as? BarrierExclusion).unsafelyUnwrapped
    }

    // Without a limit, the wait ends with the body's value.
    @usableFromInline @inline(never)
    func runByContext<Value, Failure: Error>(
        writes: Bool, _ body: () throws(Failure) -> Value
    ) throws(Failure) -> Value {
        try unsafe barriers.run(writes: writes, until: .max, body).unsafelyUnwrapped
    }

    // MARK: In and out: the fast path of a read, inlined into client code, and the slow paths

    /// Enters by announcement if admission allows it: a store to the thread's own slot, and a load.
    ///
    /// 1. Load the slot and the word. If either does not allow it, go slowly.
    /// 2. Announce the coordinator in the slot.
    /// 3. Load the word again. If it has changed, go slowly, which withdraws the announcement.
    ///
    /// In portable mode and simulations the slow path does so, with a barrier and scheduling
    /// points.
    @inlinable @inline(__always)
    func enter(_ thread: ThreadRecord, until deadline: Int64) -> AccessEntry? {
        let slot = unsafe ReaderSlots.first(thread)
        // Relaxed, both: the thread's own slot, and a hint that saves a vain announcement.
        let own = unsafe slot.pointee.load(ordering: .relaxed)
        let now = unsafe ReadWriteWord(admission.word.pointee.load(ordering: .relaxed))
        guard own | UInt(SimulationHooks.mode) == 0, now.isOpenToSlotReaders else {
            return unsafe enterSlowly(thread, hasAnnounced: false, until: deadline)
        }
        unsafe SimulationHooks.publishAtOnce(UInt(bitPattern: admission.word), in: slot)
        // Acquiring: what the last writer did is seen.
        let then = unsafe ReadWriteWord(admission.word.pointee.load(ordering: .acquiring))
        if then.isOpenToSlotReaders { return .first }
        return unsafe enterSlowly(thread, hasAnnounced: true, until: deadline)
    }

    @inlinable @inline(__always)
    func leave(_ entry: AccessEntry, _ thread: ThreadRecord) {
        if entry == .first {
            unsafe SimulationHooks.publishAtOnce(0, in: ReaderSlots.first(thread))
            // Relaxed: if a scan still found the announcement, this load sees `revoking`, and the
            // slow path admits the waiters.
            let now = unsafe ReadWriteWord(admission.word.pointee.load(ordering: .relaxed))
            if !now.isRevoking { return }
        }
        unsafe leaveSlowly(entry, thread)
    }

    @usableFromInline @inline(never)
    func enterSlowly(_ thread: ThreadRecord, hasAnnounced: Bool, until deadline: Int64)
        -> AccessEntry?
    {
        unsafe exclusion.enterToRead(thread, hasAnnounced: hasAnnounced, until: deadline)
    }

    @usableFromInline @inline(never)
    func leaveSlowly(_ entry: AccessEntry, _ thread: ThreadRecord) {
        let mustAdmitNext: Bool
        switch entry {
        case .first: mustAdmitNext = true
        case .announced:
            let slot = unsafe ReaderSlots.top(thread)
            unsafe ReaderSlots.pop(thread)
            mustAdmitNext = unsafe admission.withdraw(slot)
        case .counted:
            unsafe admission.unmarkReader(thread)
            mustAdmitNext = admission.leaveCounted()
        case .alone: mustAdmitNext = admission.leaveExclusive()
        case .held: mustAdmitNext = admission.endHold()
        case .nested, .byContext: mustAdmitNext = false
        }
        if mustAdmitNext { unsafe exclusion.admitNext(thread) }
    }

    /// Enters to write, unless the thread is writing already; nil if `deadline` came first.
    @usableFromInline
    func beginWriting(_ thread: ThreadRecord, until deadline: Int64) -> AccessEntry? {
        if unsafe admission.isThreadWriting(thread) { return .nested }
        return unsafe exclusion.enterToWrite(thread, until: deadline)
    }
}

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
    var writeContext: any ExecutionContext { get }
    var admission: Admission { get }

    /// Enters a reader that could not take the fast path; nil if `deadline` came first.
    ///
    /// With `hasAnnounced` the first slot of the thread has an announcement to be withdrawn.
    func enterToRead(_ thread: ThreadRecord, hasAnnounced: Bool, until deadline: Int64)
        -> AccessEntry?

    /// Enters a writer, which is not writing already; nil if `deadline` came first.
    func enterToWrite(_ thread: ThreadRecord, until deadline: Int64) -> AccessEntry?

    /// Admits the next waiters, after a caller has left.
    func admitNext(_ thread: ThreadRecord)

    /// Submits a write. With `later`, it does not begin inside the call.
    func enqueueWrite(_ write: consuming @escaping Work, later: Bool)

    /// Submits a read, which no thread waits for. It runs after the writes before it.
    func enqueueRead(_ read: consuming @escaping Work)

    /// Holds the coordinator until the release, like a blocking write without a body.
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

/// How a reader or a writer entered, which decides how it leaves.
@usableFromInline
enum AccessEntry: UInt8 {
    /// A reader, by announcement in the first slot of its thread.
    case first
    /// A reader, by announcement in a pushed slot, since the first one was taken.
    case announced
    /// A reader, counted in the word.
    case counted
    /// A writer, exclusively.
    case alone
    /// Inside an access of the same thread.
    case nested
    /// Inside a hold of the caller, which is held once more: another thread may release it.
    case held
    /// Not yet: `BarrierExclusion` runs the body.
    case byContext
}
