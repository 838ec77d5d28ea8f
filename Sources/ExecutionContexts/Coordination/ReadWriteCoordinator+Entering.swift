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
    func leave(_ entry: ReadEntry, _ thread: ThreadRecord) {
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
        -> ReadEntry?
    {
        unsafe exclusion.enterToRead(thread, hasAnnounced: hasAnnounced, until: deadline)
    }

    @usableFromInline @inline(never)
    func leaveSlowly(_ entry: ReadEntry, _ thread: ThreadRecord) {
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
        case .held: mustAdmitNext = admission.endHold()
        case .nested, .byContext: mustAdmitNext = false
        }
        if mustAdmitNext { unsafe exclusion.admitNext(thread) }
    }

    /// Enters to write, unless the thread is writing already.
    @usableFromInline
    func beginWriting(_ thread: ThreadRecord, until deadline: Int64) -> WriteEntry {
        if unsafe admission.isThreadWriting(thread) { return .nested }
        return unsafe exclusion.enterToWrite(thread, until: deadline)
    }

    @usableFromInline
    func endWriting(_ entry: WriteEntry, _ thread: ThreadRecord) {
        let mustAdmitNext = entry == .held ? admission.endHold() : admission.leaveExclusive()
        if mustAdmitNext { unsafe exclusion.admitNext(thread) }
    }
}
