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

    /// A `ReadWriteWord`, in a cache line of its own, since every reader loads it.
    @usableFromInline let word: UnsafeMutablePointer<Atomic<UInt64>>

    /// The number of the thread that is inside exclusively, or `held`, or zero.
    ///
    /// Relaxed stores and loads: only the thread, or the owner of the hold, looks for its own mark.
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

    /// Whether the calling thread writes, or holds.
    var isInsideWrite: Bool { unsafe isThreadWriting(Threads.current) || isHolding }

    /// Whether the calling thread reads, writes or holds.
    var isInside: Bool { unsafe isInsideWrite || isReading(Threads.current) }

    // MARK: Marks

    private var announcement: UInt { unsafe UInt(bitPattern: word) }

    private func markExclusive(_ thread: ThreadRecord) {
        unsafe exclusiveThread.pointee.store(thread.pointee.identifier, ordering: .relaxed)
    }

    func markHeld() { unsafe exclusiveThread.pointee.store(Self.held, ordering: .relaxed) }

    private func unmarkExclusive() { unsafe exclusiveThread.pointee.store(0, ordering: .relaxed) }

    func mark(_ slot: ReaderSlots.Slot) {
        // Releasing, here and below: a scan that looks for an earlier announcement in the slot, and
        // finds this word, must see what that reader did before.
        unsafe slot.pointee.store(announcement | 1, ordering: .releasing)
    }

    func unmarkReader(_ thread: ThreadRecord) {
        unsafe ReaderSlots.top(thread).pointee.store(0, ordering: .releasing)
        unsafe ReaderSlots.pop(thread)
    }

    func markingRead<Value, Failure: Error>(_ body: () throws(Failure) -> Value) throws(Failure)
        -> Value
    {
        let thread = unsafe Threads.current
        unsafe mark(ReaderSlots.push(thread))
        defer { unsafe unmarkReader(thread) }
        return try body()
    }

    func markingWrite<Value, Failure: Error>(_ body: () throws(Failure) -> Value) throws(Failure)
        -> Value
    {
        unsafe markExclusive(Threads.current)
        defer { unmarkExclusive() }
        return try body()
    }

    // MARK: Steps on the word, scheduling points of a simulation except `hint` and `current`

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

    /// Waits for some microseconds after a failed exchange; returns the word as it is then.
    ///
    /// Two threads that alternate move the cache line between their processors at each exchange,
    /// which takes several times as long as the exchange.
    @inline(never)
    private func backedOff(_ current: UInt64) -> UInt64 {
        // Under a simulator no other thread runs meanwhile.
        if ec_mode() & UInt32(EC_MODE_SIMULATED) != 0 { return current }
        for _ in 0..<128 { ec_relax() }
        // Relaxed: the exchange that follows compares it.
        return unsafe word.pointee.load(ordering: .relaxed)
    }

    /// Relaxed: its callers then compare and swap the word, or take the lock.
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

    /// Announces a reader, which then looks at the word, and may have to withdraw.
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
        // Releasing: what the reader read precedes what a writer changes. Not acquiring: a reader
        // that admits waiters takes the lock.
        let now = unsafe word.pointee.wrappingSubtract(
            ReadWriteWord.oneReader, ordering: .releasing
        ).newValue
        return !ReadWriteWord(now).hasCountedReaders && ReadWriteWord(now).mustAdmitNext
    }

    /// A writer leaves; true if it must admit waiters.
    func leaveExclusive() -> Bool {
        unmarkExclusive()
        unsafe SimulationHooks.point(word, mode: ec_mode())
        // Releasing what the writer did. Not acquiring, as above.
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
        let now = hint
        if now.isExclusive || now.hasCountedReaders { return false }
        if now.isBiased {
            update { $0.revokingBias() }
            // After this barrier the scan below finds a slot reader, or it has seen the bias gone.
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

    /// The lock owner, inside exclusively, becomes a counted reader.
    func becomeReader() {
        unmarkExclusive()
        update { $0.becomingReader() }
    }
}

/// The word of a coordinator as a value, and each change of it as a function.
///
/// | bits | name | set while |
/// |---|---|---|
/// | 0 | `exclusive` | a writer, or a thread that runs enqueued writes, is inside |
/// | 1 | `biased` | readers may enter by announcing themselves in a slot of their thread |
/// | 2 | `revoking` | the bias is revoked, and slot readers may still be inside |
/// | 3 | `closed` | callers that arrive join the wait queue |
/// | 4 | `hasWaiters` | the wait queue has a waiter, which is to be woken when it can enter |
/// | 5 | `wakePending` | a waiter was woken and has not looked yet: no other one is woken |
/// | 8-14 | `tally` | counts the counted reads since the last writer |
/// | 32-63 | `reader` | counts the counted readers inside |
///
/// What a caller may do that has no lock and is not inside already:
///
/// | word | slot reader | counted reader | writer |
/// |---|---|---|---|
/// | vacant | counts itself | enters | enters |
/// | counted readers inside | counts itself | enters | waits |
/// | `biased` | enters | enters | revokes the bias, under the lock |
/// | `revoking` | counts itself | enters | scans the reader slots, under the lock |
/// | `exclusive` or `closed` | waits | waits | waits |
@frozen @usableFromInline
struct ReadWriteWord {
    @usableFromInline let bits: UInt64

    @inlinable @inline(__always)
    init(_ bits: UInt64) { self.bits = bits }

    /// The flags of the wait queue; they change only under the lock.
    init(isClosed: Bool, hasWaiters: Bool = false, isWakePending: Bool = false) {
        bits =
            (isClosed ? Self.closed : 0) | (hasWaiters ? Self.hasWaiters : 0)
            | (isWakePending ? Self.wakePending : 0)
    }

    private static var exclusive: UInt64 { 1 << 0 }
    private static var biased: UInt64 { 1 << 1 }
    private static var revoking: UInt64 { 1 << 2 }
    private static var closed: UInt64 { 1 << 3 }
    private static var hasWaiters: UInt64 { 1 << 4 }
    private static var wakePending: UInt64 { 1 << 5 }
    private static var queueFlags: UInt64 { closed | hasWaiters | wakePending }
    private static var tally: UInt64 { 1 << 8 }
    private static var tallyMask: UInt64 { 0x7f << 8 }

    /// What a writer that leaves subtracts: the flag is set, so it is clear then.
    static var oneWriter: UInt64 { exclusive }
    static var oneReader: UInt64 { 1 << 32 }

    /// Whether a reader may enter by announcement: of bits 0, 1 and 3, only `biased` is set.
    @inlinable @inline(__always)
    var isOpenToSlotReaders: Bool { bits & 0b1011 == 0b0010 }

    @inlinable @inline(__always)
    var isRevoking: Bool { bits & 0b0100 != 0 }

    var isExclusive: Bool { bits & Self.exclusive != 0 }
    var isBiased: Bool { bits & Self.biased != 0 }
    var isClosed: Bool { bits & Self.closed != 0 }
    var hasCountedReaders: Bool { bits >= Self.oneReader }

    /// Whether no reader and no writer is inside, and no reader may enter by announcement.
    var isVacant: Bool {
        bits & (Self.exclusive | Self.biased | Self.revoking) == 0 && !hasCountedReaders
    }

    /// Whether a thread that leaves must admit or wake waiters.
    var mustAdmitNext: Bool {
        isClosed || bits & (Self.hasWaiters | Self.wakePending) == Self.hasWaiters
    }

    func hasQueueFlags(_ flags: ReadWriteWord) -> Bool { bits & Self.queueFlags == flags.bits }
}

/// The changes of the word; nil where one cannot be made. `Admission` makes them atomically.
///
/// | change | made by | if | effect |
/// |---|---|---|---|
/// | `countingReader` | a reader | not `exclusive`, not `closed` | `reader` + 1, `tally` + 1 |
/// | `admittingReader` | the lock owner, for a waiter | not `exclusive` | `reader` + 1 |
/// | `enteringVacant` | a writer | vacant, not `closed` | sets `exclusive`, clears `tally` |
/// | `excluding` | the lock owner | vacant | sets `exclusive`, clears `tally` |
/// | `revokingBias` | the lock owner | always | `biased` becomes `revoking` |
/// | `endingRevocation` | the lock owner, after a scan | always | clears `revoking` |
/// | `publishing` | the lock owner | always | replaces bits 3-5; may clear `exclusive` |
/// | `becomingReader` | the lock owner, inside | always | `exclusive` becomes one `reader` |
/// | minus `oneWriter`, `oneReader` | a caller that leaves | it is inside | one caller fewer |
extension ReadWriteWord {
    /// The bias returns after 128 reads without a writer.
    func countingReader() -> ReadWriteWord? {
        if bits & (Self.exclusive | Self.closed) != 0 { return nil }
        let counted = bits + Self.oneReader
        guard bits & (Self.biased | Self.hasWaiters) == 0 else { return ReadWriteWord(counted) }
        guard bits & Self.tallyMask == Self.tallyMask else {
            return ReadWriteWord(counted + Self.tally)
        }
        return ReadWriteWord(counted & ~(Self.tallyMask | Self.revoking) | Self.biased)
    }

    func admittingReader() -> ReadWriteWord? {
        isExclusive ? nil : ReadWriteWord(bits + Self.oneReader)
    }

    func enteringVacant() -> ReadWriteWord? { isClosed ? nil : excluding() }

    func excluding() -> ReadWriteWord? {
        isVacant ? ReadWriteWord((bits | Self.exclusive) & ~Self.tallyMask) : nil
    }

    func revokingBias() -> ReadWriteWord { ReadWriteWord(bits & ~Self.biased | Self.revoking) }

    func endingRevocation() -> ReadWriteWord { ReadWriteWord(bits & ~Self.revoking) }

    func publishing(_ flags: ReadWriteWord, leavesExclusive: Bool) -> ReadWriteWord {
        let replaced = Self.queueFlags | (leavesExclusive ? Self.exclusive : 0)
        return ReadWriteWord(bits & ~replaced | flags.bits)
    }

    func becomingReader() -> ReadWriteWord {
        ReadWriteWord(bits & ~Self.exclusive + Self.oneReader)
    }
}

/// The slots in which readers announce themselves: a slot has the address of what its thread reads.
///
/// With the lowest bit set it informs only the thread itself: the word counts that read.
@usableFromInline
typealias ReaderSlots = ThreadSlots
