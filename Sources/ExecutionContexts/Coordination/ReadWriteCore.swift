internal import CPlatform
internal import Synchronization

/// The state machine of a coordinator: one state word, its queues, and drains on the write context.
///
/// Enqueued writes keep it alive, so releasing the coordinator drops none (law 19).
@safe
final class ReadWriteCore: DrainedView, @unchecked Sendable {
    // Unchecked: the word is atomic, the queues have a lock, the batch belongs to the exclusive
    // thread.
    let writeContext: any ExecutionContext
    let name: String
    /// The context whose barriers do the excluding, or nil.
    let base: (any SynchronousBarrierContext)?
    /// Whether `base` is set; a slow access that reads `base` itself copies the existential.
    let isOverContext: Bool
    /// See `ReadWriteState`.
    let state: UnsafeMutablePointer<Atomic<UInt64>>
    /// The number of the thread that is inside exclusively, or `ReadWriteCore.held`, or zero.
    let writer: UnsafeMutablePointer<Atomic<UInt32>>
    /// The owner of a hold, while `writer` is `ReadWriteCore.held`.
    private let owner = ExclusiveOwner()
    let queues = Guarded(CoordinatorQueues())
    /// Writes that were taken from the queue and have not run.
    private let batch: UnsafeMutablePointer<WorkQueue>

    init(
        name: String, writeContext: some ExecutionContext,
        over base: (any SynchronousBarrierContext)? = nil
    ) {
        self.name = name
        self.base = base
        isOverContext = base != nil
        self.writeContext = writeContext
        // A cache line for the word, since every reader loads it.
        let memory = UnsafeMutableRawPointer.allocate(byteCount: 128, alignment: 64)
        unsafe state = memory.bindMemory(to: Atomic<UInt64>.self, capacity: 1)
        unsafe writer = (memory + 64).bindMemory(to: Atomic<UInt32>.self, capacity: 1)
        unsafe batch = (memory + 72).bindMemory(to: WorkQueue.self, capacity: 1)
        // Over a context admission stays closed, so that no caller takes a fast path.
        unsafe state.initialize(to: Atomic(base == nil ? 0 : ReadWriteState.closed))
        unsafe writer.initialize(to: Atomic(0))
        unsafe batch.initialize(to: WorkQueue())
        super.init(over: type(of: writeContext))
        unsafe SimulationHooks.made(state, name)
    }

    deinit {
        unsafe batch.deinitialize(count: 1)
        unsafe state.deallocate()
    }

    /// The word that a reader stores into a slot of its thread.
    var announcement: UInt { unsafe UInt(bitPattern: state) }

    /// The value of `writer` during a hold, whose task may be on any thread. No thread has this
    /// number.
    static var held: UInt32 { .max }

    func isWriting(_ thread: ThreadRecord) -> Bool {
        // Relaxed: a thread that reads the mark of a hold goes on to compare the owner.
        unsafe isThreadWriting(thread)
            || writer.pointee.load(ordering: .relaxed) == Self.held && owner.isMine
    }

    /// Whether the thread writes, other than by a hold.
    private func isThreadWriting(_ thread: ThreadRecord) -> Bool {
        // Relaxed: only this thread stores its own number.
        unsafe writer.pointee.load(ordering: .relaxed) == thread.pointee.identifier
    }

    func isReading(_ thread: ThreadRecord) -> Bool {
        unsafe ReaderSlots.holds(thread, announcement)
    }

    /// Whether the calling thread is inside a write of this coordinator.
    var isInsideWrite: Bool { unsafe isWriting(Threads.current) }

    /// Whether the calling thread is inside a read or a write of this coordinator.
    var isInside: Bool { unsafe isInsideWrite || isReading(Threads.current) }

    // MARK: The word

    /// Replaces the word by the result of `change`, unless that is nil; returns the word before.
    ///
    /// `backsOff` is for callers without the lock of the queues: they back off after a failed
    /// exchange.
    @discardableResult @inline(__always)
    func update(backsOff: Bool = false, _ change: (UInt64) -> UInt64?) -> UInt64? {
        unsafe SimulationHooks.point(state, mode: ec_mode())
        var now = unsafe state.pointee.load(ordering: .relaxed)
        while true {
            guard let next = change(now) else { return nil }
            // Sequentially consistent: it is one side of the handshake with slot readers. It
            // acquires what the threads inside before wrote, and releases what the caller wrote.
            let (isDone, current) = unsafe state.pointee.compareExchange(
                expected: now, desired: next, ordering: .sequentiallyConsistent)
            if isDone { return now }
            now = backsOff ? backedOff(current) : current
        }
    }

    /// Backs off after a failed exchange; returns the word as it is then.
    ///
    /// Two threads that alternate move the cache line between their processors at each exchange,
    /// which takes several times as long as the exchange. So the thread whose exchange failed stays
    /// away for some microseconds, and the other one continues undisturbed.
    @inline(never)
    private func backedOff(_ current: UInt64) -> UInt64 {
        // Under a simulator no other thread runs meanwhile.
        if ec_mode() & UInt32(EC_MODE_SIMULATED) != 0 { return current }
        for _ in 0..<128 { ec_relax() }
        // Relaxed: the exchange that follows compares it.
        return unsafe state.pointee.load(ordering: .relaxed)
    }

    /// Counts a reader, unless admission is closed or a writer is inside.
    func tryCountReader() -> Bool {
        update(backsOff: true) { state in
            state & (ReadWriteState.exclusive | ReadWriteState.closed) == 0
                ? ReadWriteState.counting(state) : nil
        } != nil
    }

    /// Lets a writer enter a vacant word, unless admission is closed.
    func tryEnterVacant(_ thread: ThreadRecord) -> Bool {
        let before = update(backsOff: true) { state in
            ReadWriteState.isVacant(state) && state & ReadWriteState.closed == 0
                ? (state | ReadWriteState.exclusive) & ~ReadWriteState.tallyMask : nil
        }
        if before != nil { unsafe setWriter(thread) }
        return before != nil
    }

    /// Lets the caller, which has the lock of the queues, enter exclusively; false if another is
    /// inside.
    ///
    /// 1. Revoke the bias, if it is set.
    /// 2. Scan the reader slots of all threads, if slot readers may be inside.
    /// 3. Set `exclusive`, if the word is vacant.
    func tryExclude(_ thread: ThreadRecord) -> Bool {
        // Relaxed: a hint that saves the steps below; most of the time another thread is inside.
        var now = unsafe state.pointee.load(ordering: .relaxed)
        if now & ReadWriteState.exclusive != 0 || ReadWriteState.readers(now) > 0 { return false }
        if now & ReadWriteState.biased != 0 {
            update { $0 & ~ReadWriteState.biased | ReadWriteState.revoking }
            // After this barrier a slot reader is found by the scan below, or has seen the bias
            // gone.
            ec_barrier()
            now |= ReadWriteState.revoking
        }
        if now & ReadWriteState.revoking != 0 {
            unsafe SimulationHooks.point(state, mode: ec_mode())
            if ReaderSlots.isAnnounced(announcement) { return false }
            update { $0 & ~ReadWriteState.revoking }
        }
        let isInside =
            update { state in
                ReadWriteState.isVacant(state)
                    ? (state | ReadWriteState.exclusive) & ~ReadWriteState.tallyMask : nil
            } != nil
        if isInside { unsafe setWriter(thread) }
        return isInside
    }

    /// Whether a slot reader may still be inside; the caller has the lock of the queues.
    var hasSlotReaders: Bool {
        // Relaxed: a slot reader loads the word after it leaves, and then takes the lock.
        unsafe state.pointee.load(ordering: .relaxed) & ReadWriteState.revoking != 0
            && ReaderSlots.isAnnounced(announcement)
    }

    private func setWriter(_ thread: ThreadRecord) {
        unsafe writer.pointee.store(thread.pointee.identifier, ordering: .relaxed)
    }

    // MARK: Writing

    /// Holds the coordinator for the caller until the release, like a blocking write without a
    /// body.
    func hold() -> ExclusiveHold {
        if isOverContext, let base { return hold(over: base) }
        let thread = unsafe Threads.current
        if !owner.holdAgain() {
            if unsafe isThreadWriting(thread) { return .nothing }
            _ = unsafe enterToWrite(thread, until: Parker.never)
            owner.begin()
            // Relaxed, as for a thread: only the owner looks for its own mark.
            unsafe writer.pointee.store(Self.held, ordering: .relaxed)
        }
        return ExclusiveHold(releasing: {
            if self.owner.end() { unsafe self.leaveWriting(Threads.current) }
        })
    }

    /// The base excludes other callers and counts its holds; the mark identifies the owner.
    private func hold(over base: any SynchronousBarrierContext) -> ExclusiveHold {
        let thread = unsafe Threads.current
        if !owner.isMine {
            if unsafe isThreadWriting(thread) { return .nothing }
            unsafe refuseWriteInsideRead(thread)
        }
        let hold = base.hold()
        // Under the lock: the owner may hold again while another thread ends its hold. The base
        // counts one more hold then, and excludes neither of the two.
        queues.withLock { _ in
            if !owner.holdAgain() { owner.begin() }
        }
        // Relaxed, as in `hold`. The mark stays after the hold: without the count it means nothing.
        unsafe writer.pointee.store(Self.held, ordering: .relaxed)
        // The count is lowered first, while the base still excludes other callers.
        return hold.preceded(by: {
            let last = self.queues.withLock { _ in self.owner.withdraw() }
            last?.release()
        })
    }

    /// Submits a write. With `elsewhere`, a drain that it requests does not begin inside the call.
    func enqueue(_ write: consuming @escaping Work, elsewhere: Bool = false) {
        if isOverContext, let base {
            let write = MovedWork(consume write)
            return base.executeBarrier { self.markingWrite(write.run) }
        }
        // Unmanaged: the captures are released where the write ran, not by the submitter (law 10).
        let write = UnmanagedWork(writeContext.bound(consume write))
        let mustRequestDrain = queues.withLock { queues in
            queues.append(write.assembled())
            let mustRequestDrain = !queues.isDrainRequested
            queues.isDrainRequested = true
            publish(queues.flags)
            return mustRequestDrain
        }
        guard mustRequestDrain else { return }
        elsewhere ? requestDrainElsewhere(on: writeContext) : requestDrain(on: writeContext)
    }

    /// Copies the flags of the queues into the word; the caller has the lock of the queues.
    func publish(_ flags: UInt64, clearing others: UInt64 = 0) {
        // Relaxed: only the lock owner changes these flags.
        let now = unsafe state.pointee.load(ordering: .relaxed)
        if now & ReadWriteState.queueFlags == flags && others == 0 { return }
        update { $0 & ~(ReadWriteState.queueFlags | others) | flags }
    }

    /// Runs enqueued writes on a thread of the write context.
    override func drain() {
        runDrains(on: writeContext) { unsafe drainOnce(Threads.current) }
    }

    override func drainWasDropped() {
        queues.withLock { queues in
            queues.hasDroppedDrain = true
            queues.isDrainRequested = queues.hasWrites
        }
        // The writes were accepted and outlive the drain: the pool or a waiter runs them.
        GlobalContext().execute { self.drain() }
        unsafe perform(queues.withLock { admitNext(&$0) }, Threads.current)
    }

    /// Runs writes within one drain budget; true if no further drain is needed.
    private func drainOnce(_ thread: ThreadRecord) -> Bool {
        let isInside = queues.withLock { queues in
            queues.isDrainRequested = false
            // Drains arrive again: no waiter needs to replace the write context.
            queues.hasDroppedDrain = false
            return unsafe queues.completed < queues.limit && tryExclude(thread)
        }
        // The thread that is inside requests the next drain when it leaves.
        guard isInside else { return true }
        var budget = DrainBudget()
        let ran = runWrites(to: .max) { budget.spend() }
        var effects = queues.withLock { queues in
            queues.completed += ran
            return endExclusive(&queues)
        }
        let isMoreToDo = effects.mustRequestDrain
        effects.mustRequestDrain = false
        unsafe perform(effects, thread)
        return !isMoreToDo
    }

    /// Runs writes, inside exclusively, until `isSpent` or up to `position`; returns how many.
    func runWrites(to position: UInt64, until isSpent: () -> Bool) -> UInt64 {
        var ran: UInt64 = 0
        let before = queues.withLock { $0.completed }
        while before + ran < position {
            guard let write = nextWrite(ran: ran) else { break }
            write()
            ran += 1
            if isSpent() { break }
        }
        return ran
    }

    private func nextWrite(ran: UInt64) -> Work? {
        if let write = unsafe batch.pointee.popFirst() { return write }
        queues.withLock { unsafe $0.takeWrites(into: &batch.pointee, ran: ran) }
        return unsafe batch.pointee.popFirst()
    }
}
