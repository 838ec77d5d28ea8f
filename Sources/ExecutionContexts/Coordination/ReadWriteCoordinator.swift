public import CPlatform
public import Synchronization

/// Reads that run side by side on their callers, and writes that run alone, one after the other.
///
/// ```swift
/// let coordinator = ReadWriteCoordinator()
/// coordinator.enqueueWrite { settings.language = "en" }
/// let language = coordinator.read { settings.language }
/// ```
@safe
public final class ReadWriteCoordinator: Sendable {
    let core: ReadWriteCore
    /// The word of the core, which lives as long as the core does.
    ///
    /// Unsafe in name only: the word is atomic.
    @usableFromInline nonisolated(unsafe) let state: UnsafeMutablePointer<Atomic<UInt64>>

    /// Makes a coordinator whose enqueued writes run on `carrier`.
    public init(name: String = "coordinator", carrier: some ExecutionContext = GlobalContext()) {
        core = ReadWriteCore(name: name, carrier: carrier)
        unsafe state = core.state
    }

    /// Runs `body` on the caller, beside other reads, and returns its value or throws its error (law 17).
    @inlinable
    public func read<Value, Failure: Error>(
        _ body: () throws(Failure) -> Value
    ) throws(Failure) -> Value {
        let thread = unsafe Threads.current
        let slot = unsafe HeldSlots.push(thread)
        // Without a limit, waiting ends inside.
        let entry = unsafe enter(thread, slot, until: .max).unsafelyUnwrapped
        defer { unsafe leave(entry, thread, slot) }
        return try body()
    }

    /// Enters by claim where that is open: a write to the thread's own slot, and a look at the word.
    @inlinable @inline(__always)
    func enter(_ thread: ThreadRecord, _ slot: HeldSlots.Slot, until deadline: Int64) -> ReadEntry? {
        let mode = ec_mode()
        // Relaxed: a first look, which spares a claim that would have to be taken back.
        var now = unsafe state.pointee.load(ordering: .relaxed)
        let isOpen = now & ReadWriteState.doors == ReadWriteState.biased
        if isOpen {
            unsafe Seam.publish(UInt(bitPattern: state), in: slot, mode: mode)
            unsafe Seam.point(state, mode: mode)
            // Sequentially consistent for the portable mode, and acquiring what the last writer did.
            now = unsafe state.pointee.load(ordering: .sequentiallyConsistent)
            if now & ReadWriteState.doors == ReadWriteState.biased { return .claimed }
        }
        return unsafe enterSlowly(thread, slot, hasClaimed: isOpen, until: deadline)
    }

    @inlinable @inline(__always)
    func leave(_ entry: ReadEntry, _ thread: ThreadRecord, _ slot: HeldSlots.Slot) {
        defer { unsafe HeldSlots.pop(thread) }
        if entry == .claimed {
            let mode = ec_mode()
            unsafe Seam.publish(0, in: slot, mode: mode)
            unsafe Seam.point(state, mode: mode)
            // Sequentially consistent, as above: whoever took the bias back is told.
            let now = unsafe state.pointee.load(ordering: .sequentiallyConsistent)
            if now & ReadWriteState.claimed == 0 { return }
        }
        unsafe leaveSlowly(entry, thread, slot)
    }

    @usableFromInline @inline(never)
    func enterSlowly(
        _ thread: ThreadRecord, _ slot: HeldSlots.Slot, hasClaimed: Bool, until deadline: Int64
    ) -> ReadEntry? {
        unsafe core.enterToRead(thread, slot, hasClaimed: hasClaimed, until: deadline)
    }

    @usableFromInline @inline(never)
    func leaveSlowly(_ entry: ReadEntry, _ thread: ThreadRecord, _ slot: HeldSlots.Slot) {
        unsafe core.leaveReading(entry, slot, thread)
    }

    /// Runs `write` later on the carrier, alone, after everything submitted before it (law 17).
    public func enqueueWrite(_ write: @escaping Work) { core.enqueue(write) }

    /// Runs `body` on the caller, alone, after the writes submitted before it, and returns its value.
    public func blockingWrite<Value, Failure: Error>(
        _ body: () throws(Failure) -> Value
    ) throws(Failure) -> Value {
        let thread = unsafe Threads.current
        if unsafe core.isWriting(thread) { return try body() }
        _ = unsafe core.enterToWrite(thread, until: .max)
        defer { unsafe core.leaveWriting(thread) }
        return try body()
    }
}
