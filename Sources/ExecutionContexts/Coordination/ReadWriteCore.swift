internal import CPlatform
internal import Synchronization

/// The machinery of a coordinator: one word, a line, and turns on the carrier.
///
/// Enqueued writes keep it alive, so letting go of the coordinator loses none (law 19).
@safe
final class ReadWriteCore: DrainedView, @unchecked Sendable {
    // Unchecked: the word is atomic, the line has its lock, the batch belongs to whoever is inside alone.
    let carrier: any ExecutionContext
    let name: String
    /// The context whose barriers do it all, or nil.
    let base: (any SynchronousBarrierContext)?
    /// Asked at every access that is not the shortest; the optional itself would be copied to be asked.
    let isOverContext: Bool
    /// See `ReadWriteState`.
    let state: UnsafeMutablePointer<Atomic<UInt64>>
    /// The number of the thread that is inside alone, or `ReadWriteCore.held`, or zero.
    let writer: UnsafeMutablePointer<Atomic<UInt32>>
    /// The holder that has the coordinator to itself by `hold`, while `writer` is `ReadWriteCore.held`.
    private let holding = Holding()
    let line = Guarded(WriteLine())
    /// Writes that were taken out of the line and not run yet.
    private let batch: UnsafeMutablePointer<WorkQueue>

    init(
        name: String, carrier: some ExecutionContext, over base: (any SynchronousBarrierContext)? = nil
    ) {
        self.name = name
        self.base = base
        isOverContext = base != nil
        self.carrier = carrier
        // A line of memory for the word, which readers look at all the time.
        let memory = UnsafeMutableRawPointer.allocate(byteCount: 128, alignment: 64)
        unsafe state = memory.bindMemory(to: Atomic<UInt64>.self, capacity: 1)
        unsafe writer = (memory + 64).bindMemory(to: Atomic<UInt32>.self, capacity: 1)
        unsafe batch = (memory + 72).bindMemory(to: WorkQueue.self, capacity: 1)
        // Over a context the doors stay closed, so that nobody takes the short ways.
        unsafe state.initialize(to: Atomic(base == nil ? 0 : ReadWriteState.closed))
        unsafe writer.initialize(to: Atomic(0))
        unsafe batch.initialize(to: WorkQueue())
        super.init(over: type(of: carrier))
        unsafe Seam.made(state, name)
    }

    deinit {
        unsafe batch.deinitialize(count: 1)
        unsafe state.deallocate()
    }

    /// What a reader writes into a slot of its thread.
    var claim: UInt { unsafe UInt(bitPattern: state) }

    /// Stands for a writer that is known by `holding`: its task may be on any thread. No thread has this number.
    static var held: UInt32 { .max }

    func isWriting(_ thread: ThreadRecord) -> Bool {
        // Relaxed: who finds the mark of a hold compares the holder.
        unsafe isThreadWriting(thread)
            || writer.pointee.load(ordering: .relaxed) == Self.held && holding.isMine
    }

    /// Whether the thread writes, and not by a hold.
    private func isThreadWriting(_ thread: ThreadRecord) -> Bool {
        // Relaxed: the thread's own number is there only if this thread has put it there.
        unsafe writer.pointee.load(ordering: .relaxed) == thread.pointee.identifier
    }

    func isReading(_ thread: ThreadRecord) -> Bool { unsafe HeldSlots.holds(thread, claim) }

    /// Whether the calling thread is inside a write of this.
    var isInsideWrite: Bool { unsafe isWriting(Threads.current) }

    /// Whether the calling thread is inside a read or a write of this.
    var isInside: Bool { unsafe isInsideWrite || isReading(Threads.current) }

    // MARK: The word

    /// Replaces the word by what `change` makes of it, or leaves it where that is nil; returns what it was.
    ///
    /// `isPolite` is for those without the lock of the line: where somebody else is faster, they let that one go on.
    @discardableResult @inline(__always)
    func update(isPolite: Bool = false, _ change: (UInt64) -> UInt64?) -> UInt64? {
        unsafe Seam.point(state, mode: ec_mode())
        var now = unsafe state.pointee.load(ordering: .relaxed)
        while true {
            guard let next = change(now) else { return nil }
            // Sequentially consistent: it is one side of the handshake with readers by claim. It also acquires
            // what who was inside before has done, and releases what the caller did.
            let (isDone, current) = unsafe state.pointee.compareExchange(
                expected: now, desired: next, ordering: .sequentiallyConsistent)
            if isDone { return now }
            now = isPolite ? backedOff(current) : current
        }
    }

    /// What the word says after a moment in which whoever was faster has it for itself.
    ///
    /// Two that change it in turn have it travel between their processors each time, which takes several times as
    /// long as the change. So one of them stays away for some microseconds, and the other goes on undisturbed.
    @inline(never)
    private func backedOff(_ current: UInt64) -> UInt64 {
        // Under a simulator nobody else goes on meanwhile.
        if ec_mode() & UInt32(EC_MODE_SIMULATED) != 0 { return current }
        for _ in 0..<128 { ec_relax() }
        // Relaxed: the exchange that follows compares it.
        return unsafe state.pointee.load(ordering: .relaxed)
    }

    /// Counts a reader in, unless the doors are closed.
    func tryCountReader() -> Bool {
        update(isPolite: true) { state in
            state & (ReadWriteState.exclusive | ReadWriteState.closed) == 0
                ? ReadWriteState.counting(state) : nil
        } != nil
    }

    /// Lets a writer in where nobody is inside, nobody may come by claim, and nobody waits for long.
    func tryEnterVacant(_ thread: ThreadRecord) -> Bool {
        let before = update(isPolite: true) { state in
            ReadWriteState.isVacant(state) && state & ReadWriteState.closed == 0
                ? (state | ReadWriteState.exclusive) & ~ReadWriteState.tallies : nil
        }
        if before != nil { unsafe setWriter(thread) }
        return before != nil
    }

    /// Lets the caller, who has the lock of the line, be inside alone: takes the bias back and sees who is left.
    func tryExclude(_ thread: ThreadRecord) -> Bool {
        // Relaxed looks first: most of the time somebody is inside.
        var now = unsafe state.pointee.load(ordering: .relaxed)
        if now & ReadWriteState.exclusive != 0 || ReadWriteState.readers(now) > 0 { return false }
        if now & ReadWriteState.biased != 0 {
            update { $0 & ~ReadWriteState.biased | ReadWriteState.claimed }
            // From here on a reader by claim either is seen by the look below, or has seen the bias gone.
            ec_barrier()
            now |= ReadWriteState.claimed
        }
        if now & ReadWriteState.claimed != 0 {
            unsafe Seam.point(state, mode: ec_mode())
            if HeldSlots.anyoneClaims(claim) { return false }
            update { $0 & ~ReadWriteState.claimed }
        }
        let isInside =
            update { state in
                ReadWriteState.isVacant(state)
                    ? (state | ReadWriteState.exclusive) & ~ReadWriteState.tallies : nil
            } != nil
        if isInside { unsafe setWriter(thread) }
        return isInside
    }

    /// Whether a reader by claim may still be inside; for who has the lock of the line.
    var hasClaims: Bool {
        // Relaxed: a reader that leaves looks at the word after it, and comes to the lock.
        unsafe state.pointee.load(ordering: .relaxed) & ReadWriteState.claimed != 0
            && HeldSlots.anyoneClaims(claim)
    }

    private func setWriter(_ thread: ThreadRecord) {
        unsafe writer.pointee.store(thread.pointee.identifier, ordering: .relaxed)
    }

    // MARK: Writing

    /// Keeps the coordinator to the calling task or thread until the release, like a blocking write without a body.
    func hold() -> ExclusiveHold {
        if isOverContext, let base { return hold(over: base) }
        let thread = unsafe Threads.current
        if !holding.holdAgain() {
            if unsafe isThreadWriting(thread) { return .nothing }
            _ = unsafe enterToWrite(thread, until: Parker.never)
            holding.begin()
            // Relaxed, as for a thread: the holder looks for itself only.
            unsafe writer.pointee.store(Self.held, ordering: .relaxed)
        }
        return ExclusiveHold(releasing: {
            if self.holding.end() { unsafe self.leaveWriting(Threads.current) }
        })
    }

    /// The context excludes the others, and counts the holds; the mark says who the holder is.
    private func hold(over base: any SynchronousBarrierContext) -> ExclusiveHold {
        let thread = unsafe Threads.current
        if !holding.isMine {
            if unsafe isThreadWriting(thread) { return .nothing }
            unsafe refuseWriteInsideRead(thread)
        }
        let hold = base.hold()
        // Under the lock, since the holder may hold again while another thread ends its hold: the context counts one more
        // then, and excludes neither of the two.
        line.withLock { _ in
            if !holding.holdAgain() { holding.begin() }
        }
        // Relaxed, as in `hold`. It stays when the hold has ended: it says nothing without the count.
        unsafe writer.pointee.store(Self.held, ordering: .relaxed)
        // The count goes first, while the context still excludes the others.
        return hold.preceded(by: {
            let last = self.line.withLock { _ in self.holding.withdraw() }
            last?.drop()
        })
    }

    /// Submits a write; the turn that it may need does not begin inside the call if it is to come `elsewhere`.
    func enqueue(_ write: consuming @escaping Work, elsewhere: Bool = false) {
        if isOverContext, let base {
            let write = MovedWork(consume write)
            return base.executeBarrier { self.markingWrite(write.run) }
        }
        // Taken apart: what it captures is freed where it has run, and not by its submitter (law
        // 10).
        let write = LooseWork(carrier.bound(consume write))
        let mustAsk = line.withLock { line in
            line.append(write.assembled())
            let mustAsk = !line.isTurnComing
            line.isTurnComing = true
            publish(line.flags)
            return mustAsk
        }
        guard mustAsk else { return }
        elsewhere ? requestDrainElsewhere(on: carrier) : requestDrain(on: carrier)
    }

    /// Makes the flags of the word say what the line says; for who has its lock.
    func publish(_ flags: UInt64, clearing others: UInt64 = 0) {
        // Relaxed: only the lock's holder changes these.
        let now = unsafe state.pointee.load(ordering: .relaxed)
        if now & ReadWriteState.ofLine == flags && others == 0 { return }
        update { $0 & ~(ReadWriteState.ofLine | others) | flags }
    }

    /// A turn on the carrier has begun.
    override func drain() {
        takeTurns(on: carrier) { unsafe takeTurn(Threads.current) }
    }

    override func drainWasLost() {
        line.withLock { line in
            line.hasLostTurn = true
            line.isTurnComing = line.hasWrites
        }
        // The writes were accepted and are not lost with the turn: the pool runs them, or whoever waits.
        GlobalContext().execute { self.drain() }
        unsafe see(to: line.withLock { settle(&$0) }, Threads.current)
    }

    /// Runs writes for a while; true if no further turn is needed.
    private func takeTurn(_ thread: ThreadRecord) -> Bool {
        let isInside = line.withLock { line in
            line.isTurnComing = false
            // Turns come again: nobody needs to stand in for the carrier.
            line.hasLostTurn = false
            return unsafe line.completed < line.limit && tryExclude(thread)
        }
        // Who is inside will see to it.
        guard isInside else { return true }
        var budget = DrainBudget()
        let ran = runWrites(to: .max) { budget.spend() }
        var rest = line.withLock { line in
            line.completed += ran
            return leaveAlone(&line)
        }
        let isMoreToDo = rest.mustAsk
        rest.mustAsk = false
        unsafe see(to: rest, thread)
        return !isMoreToDo
    }

    /// Runs writes, for the one who is inside alone, until they stop or reach a position; returns how many.
    func runWrites(to position: UInt64, until isSpent: () -> Bool) -> UInt64 {
        var ran: UInt64 = 0
        let before = line.withLock { $0.completed }
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
        line.withLock { unsafe $0.takeWrites(into: &batch.pointee, ran: ran) }
        return unsafe batch.pointee.popFirst()
    }
}
