internal import CPlatform
internal import Synchronization

/// How a reader entered, which decides how it leaves.
@usableFromInline
enum ReadEntry: UInt8 {
    /// By announcement in the first slot of its thread.
    case first
    /// By announcement in a pushed slot, since the first one was taken.
    case announced
    /// Counted in the word.
    case counted
    /// Inside a read or a write of the same thread.
    case nested
    /// Not yet: the base of the coordinator runs the read.
    case elsewhere
}

/// The slow paths in and out.
extension ReadWriteCore {
    /// Enters a reader that could not take the fast path; nil if `deadline` came first.
    func enterToRead(_ thread: ThreadRecord, hasAnnounced: Bool, until deadline: Int64)
        -> ReadEntry?
    {
        if isOverContext { return .elsewhere }
        if hasAnnounced { unsafe withdraw(ReaderSlots.first(thread), thread) }
        let slot = unsafe ReaderSlots.push(thread)
        let entry = unsafe enter(slot, thread, until: deadline)
        if entry != .announced && entry != .counted { unsafe ReaderSlots.pop(thread) }
        return entry
    }

    private func enter(_ slot: ReaderSlots.Slot, _ thread: ThreadRecord, until deadline: Int64)
        -> ReadEntry?
    {
        if isOpenToSlotReaders {
            unsafe SimulationHooks.publish(announcement, in: slot, mode: ec_mode())
            if isOpenToSlotReaders { return .announced }
            unsafe withdraw(slot, thread)
        }
        if !tryCountReader() {
            // Admission may be closed: a thread that is inside must not wait for callers that wait
            // for it (law 18).
            if unsafe isWriting(thread) || isReading(thread) { return .nested }
            guard unsafe wait(thread, .shared, until: deadline) else { return nil }
        }
        // For the thread itself, so that it knows that it reads. Releasing all the same, here and
        // below: a scan that looks for an earlier announcement in the slot, and finds this word,
        // must see what that reader did before.
        unsafe slot.pointee.store(announcement | 1, ordering: .releasing)
        return .counted
    }

    private var isOpenToSlotReaders: Bool {
        unsafe SimulationHooks.point(state, mode: ec_mode())
        // Sequentially consistent for the portable mode, and acquiring what the last writer did.
        let now = unsafe state.pointee.load(ordering: .sequentiallyConsistent)
        return now & ReadWriteState.admission == ReadWriteState.biased
    }

    /// Withdraws an announcement, and admits waiters that may have been kept out by it.
    func withdraw(_ slot: ReaderSlots.Slot, _ thread: ThreadRecord) {
        let mode = ec_mode()
        unsafe SimulationHooks.publish(0, in: slot, mode: mode)
        unsafe SimulationHooks.point(state, mode: mode)
        let now = unsafe state.pointee.load(ordering: .sequentiallyConsistent)
        if now & ReadWriteState.revoking != 0 { unsafe admitAfterLeaving(thread) }
    }

    func leaveReading(_ entry: ReadEntry, _ thread: ThreadRecord) {
        switch entry {
        case .first: unsafe admitAfterLeaving(thread)
        case .announced:
            let slot = unsafe ReaderSlots.top(thread)
            unsafe ReaderSlots.pop(thread)
            unsafe withdraw(slot, thread)
        case .counted:
            unsafe ReaderSlots.top(thread).pointee.store(0, ordering: .releasing)  // As in `enter`.
            unsafe ReaderSlots.pop(thread)
            unsafe leaveCounted(thread)
        case .nested, .elsewhere: break
        }
    }

    /// Enters a writer; false if `deadline` came first. The caller is not writing already.
    func enterToWrite(_ thread: ThreadRecord, until deadline: Int64) -> Bool {
        if unsafe tryEnterVacant(thread) { return true }
        unsafe refuseWriteInsideRead(thread)
        return unsafe wait(thread, .exclusive, until: deadline)
    }

    func refuseWriteInsideRead(_ thread: ThreadRecord) {
        require(
            unsafe !isReading(thread),
            "A blocking write on '\(name)' from inside a read of it would wait for that read to end (law 18). "
                + "Use enqueueWrite, which runs after the read, or write before reading.")
    }

    func leaveWriting(_ thread: ThreadRecord) {
        unsafe writer.pointee.store(0, ordering: .relaxed)  // As in `endExclusive`.
        unsafe SimulationHooks.point(state, mode: ec_mode())
        // Releasing what the writer did; acquiring for the waiters that it admits. The flag is set,
        // so subtracting it clears it.
        let now = unsafe state.pointee.wrappingSubtract(
            ReadWriteState.exclusive, ordering: .acquiringAndReleasing
        ).newValue
        if ReadWriteState.mustAdmitNext(now) { unsafe admitAfterLeaving(thread) }
    }
}
