public import CPlatform
public import Synchronization

/// The fast path in and out of a read, inlined into client code, and the entries of the slow paths.
extension ReadWriteCoordinator {
    /// Enters by announcement if admission allows it: a store to the thread's own slot, and a load.
    ///
    /// 1. Load the slot and the word. If the slot is taken or the word does not allow it, go
    ///    slowly.
    /// 2. Announce the coordinator in the slot.
    /// 3. Load the word again. If admission has changed, go slowly, which withdraws the
    ///    announcement.
    ///
    /// In portable mode and under a simulator the slow path does the same, with a barrier and
    /// scheduling points.
    @inlinable @inline(__always)
    func enter(_ thread: ThreadRecord, until deadline: Int64) -> ReadEntry? {
        let slot = unsafe ReaderSlots.first(thread)
        // Relaxed, both: the thread's own slot, and a hint that saves an announcement to be
        // withdrawn.
        let own = unsafe slot.pointee.load(ordering: .relaxed)
        let now = unsafe state.pointee.load(ordering: .relaxed)
        let isOpen = now & ReadWriteState.admission == ReadWriteState.biased
        guard own | UInt(ec_mode()) == 0, isOpen else {
            return unsafe enterSlowly(thread, hasAnnounced: false, until: deadline)
        }
        unsafe SimulationHooks.publishAtOnce(UInt(bitPattern: state), in: slot)
        // Acquiring: what the last writer did is seen.
        let then = unsafe state.pointee.load(ordering: .acquiring)
        if then & ReadWriteState.admission == ReadWriteState.biased { return .first }
        return unsafe enterSlowly(thread, hasAnnounced: true, until: deadline)
    }

    @inlinable @inline(__always)
    func leave(_ entry: ReadEntry, _ thread: ThreadRecord) {
        if entry == .first {
            unsafe SimulationHooks.publishAtOnce(0, in: ReaderSlots.first(thread))
            // Relaxed: if a scan still found the announcement, this load sees `revoking`, and the
            // slow path admits the waiters.
            let now = unsafe state.pointee.load(ordering: .relaxed)
            if now & ReadWriteState.revoking == 0 { return }
        }
        unsafe leaveSlowly(entry, thread)
    }

    @usableFromInline @inline(never)
    func enterSlowly(_ thread: ThreadRecord, hasAnnounced: Bool, until deadline: Int64)
        -> ReadEntry?
    {
        unsafe core.enterToRead(thread, hasAnnounced: hasAnnounced, until: deadline)
    }

    @usableFromInline @inline(never)
    func leaveSlowly(_ entry: ReadEntry, _ thread: ThreadRecord) {
        unsafe core.leaveReading(entry, thread)
    }

    /// Enters to write, unless the thread is writing already or the base runs the write.
    @usableFromInline
    func beginWriting(_ thread: ThreadRecord, until deadline: Int64) -> WriteEntry {
        if unsafe core.isWriting(thread) { return .nested }
        if core.isOverContext { return .elsewhere }
        return unsafe core.enterToWrite(thread, until: deadline) ? .alone : .late
    }

    @usableFromInline
    func endWriting(_ thread: ThreadRecord) { unsafe core.leaveWriting(thread) }
}

/// How a writer entered.
@usableFromInline
enum WriteEntry: UInt8 {
    case alone
    /// Inside a write of the same thread.
    case nested
    /// Not yet: the base of the coordinator runs the write.
    case elsewhere
    /// Not at all: the deadline came first.
    case late
}
