internal import CPlatform
public import Synchronization

/// Which callers a coordinator lets in: its word, and the marks of the callers that are inside.
///
/// | mark | of |
/// |---|---|
/// | the announcement in a slot of a thread | a slot reader |
/// | the same with the lowest bit set, for the thread itself | any other reader |
/// | `exclusiveThread` | the thread that is inside exclusively |
/// | `holdOwner` | the owner of a hold, while `exclusiveThread` is `held` |
///
/// A handle: its copies share one block, which the coordinator's exclusion frees.
@safe @usableFromInline
struct Admission: @unchecked Sendable {
    // Unchecked: what the pointers lead to is atomic.

    /// See `ReadWriteWord`. A cache line for the word, since every reader loads it.
    @usableFromInline let word: UnsafeMutablePointer<Atomic<UInt64>>

    /// The number of the thread that is inside exclusively, or `held`, or zero.
    ///
    /// Its stores and loads are relaxed: only the thread itself, or the owner of the hold, looks
    /// for its own mark.
    var exclusiveThread: UnsafeMutablePointer<Atomic<UInt32>> {
        unsafe (UnsafeMutableRawPointer(word) + 64).assumingMemoryBound(to: Atomic<UInt32>.self)
    }

    /// A hold's task may be on any thread. No thread has this number.
    private static var held: UInt32 { .max }

    var holdOwner: UnsafeMutablePointer<ExclusiveOwner> {
        unsafe (UnsafeMutableRawPointer(word) + 72).assumingMemoryBound(to: ExclusiveOwner.self)
    }

    /// Over a context admission is closed for good, so that no caller takes a fast path.
    init(isClosed: Bool, name: String) {
        let memory = UnsafeMutableRawPointer.allocate(byteCount: 128, alignment: 64)
        unsafe word = memory.initializeMemory(
            as: Atomic<UInt64>.self, to: Atomic(ReadWriteWord(isClosed: isClosed).bits))
        unsafe (memory + 64).bindMemory(to: Atomic<UInt32>.self, capacity: 1)
            .initialize(to: Atomic(0))
        unsafe (memory + 72).bindMemory(to: ExclusiveOwner.self, capacity: 1)
            .initialize(to: ExclusiveOwner())
        unsafe SimulationHooks.made(word, name)
    }

    /// Atomics need no deinitialization.
    func free() { unsafe word.deallocate() }

    // MARK: Inside

    /// Whether the thread writes or holds.
    private func isWriting(_ thread: ThreadRecord) -> Bool {
        unsafe isThreadWriting(thread) || isHolding
    }

    var isHolding: Bool {
        unsafe exclusiveThread.pointee.load(ordering: .relaxed) == Self.held
            && holdOwner.pointee.isMine
    }

    /// Whether the thread writes, other than by a hold.
    func isThreadWriting(_ thread: ThreadRecord) -> Bool {
        unsafe exclusiveThread.pointee.load(ordering: .relaxed) == thread.pointee.identifier
    }

    /// Holds once more for the owner of the hold, until `endHold`; false for any other caller.
    func holdAgain() -> Bool { unsafe isHolding && holdOwner.pointee.holdAgain() }

    func isReading(_ thread: ThreadRecord) -> Bool {
        unsafe ReaderSlots.holds(thread, announcement)
    }

    /// Whether the calling thread is inside a write of this coordinator, or holds it.
    var isInsideWrite: Bool { unsafe isWriting(Threads.current) }

    /// Whether the calling thread is inside a read or a write of this coordinator.
    var isInside: Bool { unsafe isInsideWrite || isReading(Threads.current) }

    // MARK: Marks

    /// The word that a slot reader stores into a slot of its thread.
    private var announcement: UInt { unsafe UInt(bitPattern: word) }

    private func markExclusive(_ thread: ThreadRecord) {
        unsafe exclusiveThread.pointee.store(thread.pointee.identifier, ordering: .relaxed)
    }

    func markHeld() { unsafe exclusiveThread.pointee.store(Self.held, ordering: .relaxed) }

    private func unmarkExclusive() { unsafe exclusiveThread.pointee.store(0, ordering: .relaxed) }

    /// Marks a reader for the thread itself, so that it knows that it reads.
    func mark(_ slot: ReaderSlots.Slot) {
        // Releasing all the same, here and below: a scan that looks for an earlier announcement in
        // the slot, and finds this word, must see what that reader did before.
        unsafe slot.pointee.store(announcement | 1, ordering: .releasing)
    }

    /// Removes the mark in the slot that was pushed last, and pops the slot.
    func unmarkReader(_ thread: ThreadRecord) {
        unsafe ReaderSlots.top(thread).pointee.store(0, ordering: .releasing)
        unsafe ReaderSlots.pop(thread)
    }

    /// Runs `body` with the calling thread marked as reading.
    func markingRead<Value, Failure: Error>(_ body: () throws(Failure) -> Value) throws(Failure)
        -> Value
    {
        let thread = unsafe Threads.current
        unsafe mark(ReaderSlots.push(thread))
        defer { unsafe unmarkReader(thread) }
        return try body()
    }

    /// Runs `body` with the calling thread marked as inside exclusively.
    func markingWrite<Value, Failure: Error>(_ body: () throws(Failure) -> Value) throws(Failure)
        -> Value
    {
        unsafe markExclusive(Threads.current)
        defer { unmarkExclusive() }
        return try body()
    }
}

/// The steps on the word in memory. Each is a scheduling point of a simulation, except `hint` and
/// `current`.
extension Admission {
    /// Replaces the word by the result of `change`; false if that is nil.
    ///
    /// `backsOff` is for callers without the lock: they back off after a failed exchange.
    @discardableResult @inline(__always)
    private func update(backsOff: Bool = false, _ change: (ReadWriteWord) -> ReadWriteWord?)
        -> Bool
    {
        unsafe SimulationHooks.point(word, mode: ec_mode())
        var now = unsafe word.pointee.load(ordering: .relaxed)
        while true {
            guard let next = change(ReadWriteWord(now)) else { return false }
            // Sequentially consistent: it is one side of the handshake with slot readers. It
            // acquires what the threads inside before wrote, and releases what the caller wrote.
            let (isDone, current) = unsafe word.pointee.compareExchange(
                expected: now, desired: next.bits, ordering: .sequentiallyConsistent)
            if isDone { return true }
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
        return unsafe word.pointee.load(ordering: .relaxed)
    }

    /// The word as a hint, without a scheduling point.
    ///
    /// Relaxed: its callers go on to compare and swap the word, or to take the lock.
    var hint: ReadWriteWord { unsafe ReadWriteWord(word.pointee.load(ordering: .relaxed)) }

    /// Sequentially consistent for the portable mode, and acquiring what the last writer did.
    var current: ReadWriteWord {
        unsafe ReadWriteWord(word.pointee.load(ordering: .sequentiallyConsistent))
    }

    /// The word after a scheduling point.
    var latest: ReadWriteWord {
        unsafe SimulationHooks.point(word, mode: ec_mode())
        return current
    }

    // MARK: Callers without the lock

    /// Announces a reader, which looks at the word afterwards: it may have to withdraw.
    func announce(in slot: ReaderSlots.Slot) {
        unsafe SimulationHooks.publish(announcement, in: slot, mode: ec_mode())
    }

    /// Withdraws an announcement; true if it may have kept out a waiter, so that the caller admits.
    func withdraw(_ slot: ReaderSlots.Slot) -> Bool {
        unsafe SimulationHooks.publish(0, in: slot, mode: ec_mode())
        return latest.isRevoking
    }

    func tryCountReader() -> Bool { update(backsOff: true) { $0.countingReader() } }

    func tryEnterVacant(_ thread: ThreadRecord) -> Bool {
        guard update(backsOff: true, { $0.enteringVacant() }) else { return false }
        unsafe markExclusive(thread)
        return true
    }

    /// A counted reader leaves; true if it must admit waiters.
    func leaveCounted() -> Bool {
        unsafe SimulationHooks.point(word, mode: ec_mode())
        // Releasing: what the reader has read comes before a writer changes it. Not acquiring: a
        // reader that admits waiters takes the lock.
        let now = unsafe word.pointee.wrappingSubtract(
            ReadWriteWord.oneReader, ordering: .releasing
        ).newValue
        return !ReadWriteWord(now).hasCountedReaders && ReadWriteWord(now).mustAdmitNext
    }

    /// A writer leaves; true if it must admit waiters.
    func leaveExclusive() -> Bool {
        unmarkExclusive()
        unsafe SimulationHooks.point(word, mode: ec_mode())
        // Releasing what the writer did. Not acquiring: a writer that admits waiters takes the
        // lock.
        let now = unsafe word.pointee.wrappingSubtract(
            ReadWriteWord.oneWriter, ordering: .releasing
        ).newValue
        return ReadWriteWord(now).mustAdmitNext
    }

    /// A hold ends; true if it was the last, and must admit waiters.
    func endHold() -> Bool { unsafe holdOwner.pointee.end() && leaveExclusive() }

    // MARK: The lock owner

    /// Lets the lock owner enter exclusively; false if another caller is inside.
    ///
    /// 1. Revoke the bias, if it is set.
    /// 2. Scan the reader slots of all threads, if slot readers may be inside.
    /// 3. Set `exclusive`, if the word is vacant.
    func tryExclude(_ thread: ThreadRecord) -> Bool {
        // Most of the time another caller is inside.
        let now = hint
        if now.isExclusive || now.hasCountedReaders { return false }
        if now.isBiased {
            update { $0.revokingBias() }
            // After this barrier a slot reader is found by the scan below, or has seen the bias
            // gone.
            ec_barrier()
        }
        if now.isBiased || now.isRevoking {
            unsafe SimulationHooks.point(word, mode: ec_mode())
            if ReaderSlots.isAnnounced(announcement) { return false }
            update { $0.endingRevocation() }
        }
        guard update({ $0.excluding() }) else { return false }
        unsafe markExclusive(thread)
        return true
    }

    /// Whether a slot reader may still be inside.
    ///
    /// The hint suffices: a slot reader loads the word after it leaves, and then takes the lock.
    var hasSlotReaders: Bool { hint.isRevoking && ReaderSlots.isAnnounced(announcement) }

    /// Counts a reader whether or not admission is closed, unless a writer is inside.
    func admitReader() -> Bool { update { $0.admittingReader() } }

    /// Copies the flags of the wait queue into the word.
    func publish(_ flags: ReadWriteWord) {
        // The hint suffices: only the lock owner changes these flags.
        if hint.hasQueueFlags(flags) { return }
        update { $0.publishing(flags, leavesExclusive: false) }
    }

    /// The lock owner, inside exclusively, leaves and publishes the flags in one step.
    func leaveExclusive(publishing flags: ReadWriteWord) {
        unmarkExclusive()
        update { $0.publishing(flags, leavesExclusive: true) }
    }

    /// The lock owner, inside exclusively, is a counted reader from here on.
    func becomeReader() {
        unmarkExclusive()
        update { $0.becomingReader() }
    }
}
