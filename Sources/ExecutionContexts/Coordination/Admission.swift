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
    func isWriting(_ thread: ThreadRecord) -> Bool { unsafe isThreadWriting(thread) || isHolding }

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
    var announcement: UInt { unsafe UInt(bitPattern: word) }

    func markExclusive(_ thread: ThreadRecord) {
        unsafe exclusiveThread.pointee.store(thread.pointee.identifier, ordering: .relaxed)
    }

    func markHeld() { unsafe exclusiveThread.pointee.store(Self.held, ordering: .relaxed) }

    func unmarkExclusive() { unsafe exclusiveThread.pointee.store(0, ordering: .relaxed) }

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
