internal import CPlatform
internal import Synchronization

/// Excludes by the word, by reader slots, and by a state machine under a lock.
///
/// It queues the writes and drains them on the write context, as a view does. The lock is taken for
/// slow decisions only. A requested drain keeps it alive, so releasing the coordinator drops no
/// write (law 19).
@safe
final class LockExclusion: Drainer, ReadWriteExclusion, @unchecked Sendable {
    // Unchecked: the word is atomic, the state machine has a lock, the batch belongs to the thread
    // that is inside exclusively.
    let name: String
    let writeContext: any ExecutionContext
    let admission: Admission
    let machine: Guarded<ReadWriteStateMachine>
    /// Writes that were taken from the queue and have not run.
    @exclusivity(unchecked) var batch = WorkQueue()
    /// Which waits of the main thread begin with a spin; only that thread accesses it.
    @exclusivity(unchecked) var mainSpins = MainSpins()
    /// Whether the main thread runs no writes, and waits for another thread that does.
    private let sparesMain: Bool

    /// Whether the calling thread may run writes, except on the write context.
    var callerMayHelp: Bool { unsafe !(sparesMain && Threads.own.pointee.is_main) }

    init(name: String, writeContext: some ExecutionContext, sparesMain: Bool = true) {
        self.name = name
        self.sparesMain = sparesMain
        self.writeContext = writeContext
        admission = Admission(isClosed: false, name: name)
        machine = Guarded(ReadWriteStateMachine(admission))
        super.init(over: writeContext)
    }

    override var drainedName: String { name }

    deinit { admission.free() }

    // MARK: Entering

    func enterToRead(_ thread: ThreadRecord, hasAnnounced: Bool, until deadline: Int64)
        -> ReadEntry?
    {
        if hasAnnounced, unsafe admission.withdraw(ReaderSlots.first(thread)) {
            unsafe admitNext(thread)
        }
        let slot = unsafe ReaderSlots.push(thread)
        if admission.latest.isOpenToSlotReaders {
            unsafe admission.announce(in: slot)
            if admission.latest.isOpenToSlotReaders { return .announced }
            if unsafe admission.withdraw(slot) { unsafe admitNext(thread) }
        }
        if !admission.tryCountReader() {
            // Admission may be closed: a thread that is inside must not wait for callers that wait
            // for it (law 18).
            let isNested = unsafe admission.isThreadWriting(thread) || admission.isReading(thread)
            let isHeld = !isNested && admission.holdAgain()
            guard unsafe !isNested && !isHeld && wait(thread, .shared, until: deadline) else {
                unsafe ReaderSlots.pop(thread)
                return isNested ? .nested : isHeld ? .held : nil
            }
        }
        unsafe admission.mark(slot)
        return .counted
    }

    func enterToWrite(_ thread: ThreadRecord, until deadline: Int64) -> WriteEntry {
        if admission.holdAgain() { return .held }
        if unsafe admission.tryEnterVacant(thread) { return .alone }
        unsafe refuseWriteInsideRead(thread)
        return unsafe wait(thread, .exclusive, until: deadline) ? .alone : .late
    }

    func admitNext(_ thread: ThreadRecord) {
        unsafe perform(machine.withLock { $0.admitNext() }, thread)
    }

    func hold() -> ExclusiveHold {
        let thread = unsafe Threads.current
        if unsafe admission.isThreadWriting(thread) { return .nothing }
        if unsafe enterToWrite(thread, until: Parker.never) != .held {
            unsafe admission.holdOwner.pointee.begin()
            admission.markHeld()
        }
        return ExclusiveHold(releasing: { [self] in
            if admission.endHold() { unsafe admitNext(Threads.current) }
        })
    }

    // MARK: Submitting

    func enqueueWrite(_ write: consuming @escaping Work, later: Bool) {
        // Unmanaged: the captures are released where the write ran, not by the submitter (law 10).
        let write = UnmanagedWork(writeContext.bound(consume write))
        guard machine.withLock({ $0.enqueueWrite(write.assembled()) }) else { return }
        later ? requestDrainLater(on: writeContext) : requestDrain(on: writeContext)
    }

    /// The read joins the wait queue like a thread, so no later write overtakes it. `admitReaders`
    /// counts it in the word. The read runs on the global context.
    func enqueueRead(_ read: consuming @escaping Work) {
        let thread = unsafe Threads.current
        // Unmanaged, as a write is.
        let read = UnmanagedWork(consume read)
        unsafe perform(
            machine.withLock { unsafe $0.enqueueRead(read.assembled(), by: thread) }, thread)
    }

    func foreseeWrite(_ forecast: inout WaitForecast) { forecast.followUnlessHelped(writeContext) }

    // MARK: Drains

    override func drain() {
        runDrains(on: writeContext) { unsafe drainOnce(Threads.current) }
    }

    override func drainWasDropped() {
        machine.withLock { $0.noteDroppedDrain() }
        // The writes were accepted and outlive the drain: the pool or a waiter runs them.
        GlobalContext().execute { self.drain() }
        unsafe admitNext(Threads.current)
    }
}
