internal import CPlatform
internal import Synchronization

/// How a reader is inside, which decides how it leaves.
@usableFromInline
enum ReadEntry: UInt8 {
    /// By a claim in the first slot of its thread.
    case first
    /// By a claim in a slot that was pushed, since the first one was taken.
    case claimed
    /// Counted in the word.
    case counted
    /// Inside something that holds the doors already: a read, or a write.
    case nested
    /// Not at all: the context that the coordinator stands over is to run it.
    case elsewhere
}

/// The ways in and out that are not the shortest.
extension ReadWriteCore {
    /// Gets a reader in that could not enter the shortest way; nil if `deadline` came first.
    func enterToRead(_ thread: ThreadRecord, hasClaimed: Bool, until deadline: Int64) -> ReadEntry? {
        if isOverContext { return .elsewhere }
        if hasClaimed { unsafe withdraw(HeldSlots.first(thread), thread) }
        let slot = unsafe HeldSlots.push(thread)
        let entry = unsafe enter(slot, thread, until: deadline)
        if entry != .claimed && entry != .counted { unsafe HeldSlots.pop(thread) }
        return entry
    }

    private func enter(_ slot: HeldSlots.Slot, _ thread: ThreadRecord, until deadline: Int64) -> ReadEntry? {
        if isOpenToClaims {
            unsafe Seam.publish(claim, in: slot, mode: ec_mode())
            if isOpenToClaims { return .claimed }
            unsafe withdraw(slot, thread)
        }
        if !tryCountReader() {
            // The doors may be closed: those inside must not wait for those who wait for them (law 18).
            if unsafe isWriting(thread) || isReading(thread) { return .nested }
            guard unsafe wait(thread, .shared, until: deadline) else { return nil }
        }
        // For the thread itself, so that it knows that it reads. Releasing all the same, here and below: who looks
        // for an earlier claim in the slot, and finds this, must see what that reader has done before.
        unsafe slot.pointee.store(claim | 1, ordering: .releasing)
        return .counted
    }

    private var isOpenToClaims: Bool {
        unsafe Seam.point(state, mode: ec_mode())
        // Sequentially consistent for the portable mode, and acquiring what the last writer did.
        let now = unsafe state.pointee.load(ordering: .sequentiallyConsistent)
        return now & ReadWriteState.doors == ReadWriteState.biased
    }

    /// Takes back a claim, and tells who may have seen it.
    func withdraw(_ slot: HeldSlots.Slot, _ thread: ThreadRecord) {
        let mode = ec_mode()
        unsafe Seam.publish(0, in: slot, mode: mode)
        unsafe Seam.point(state, mode: mode)
        let now = unsafe state.pointee.load(ordering: .sequentiallyConsistent)
        if now & ReadWriteState.claimed != 0 { unsafe settleAfterLeaving(thread) }
    }

    func leaveReading(_ entry: ReadEntry, _ thread: ThreadRecord) {
        switch entry {
        case .first: unsafe settleAfterLeaving(thread)
        case .claimed:
            let slot = unsafe HeldSlots.top(thread)
            unsafe HeldSlots.pop(thread)
            unsafe withdraw(slot, thread)
        case .counted:
            unsafe HeldSlots.top(thread).pointee.store(0, ordering: .releasing)  // As in `enter`.
            unsafe HeldSlots.pop(thread)
            unsafe leaveCounted(thread)
        case .nested, .elsewhere: break
        }
    }

    /// Gets a writer in, alone; false if `deadline` came first. The caller is not writing already.
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
        unsafe writer.pointee.store(0, ordering: .relaxed)  // As in `leaveAlone`.
        unsafe Seam.point(state, mode: ec_mode())
        // Releasing what the writer did; acquiring for whom it lets in. The flag is set, so to subtract it is to clear it.
        let now = unsafe state.pointee.wrappingSubtract(
            ReadWriteState.exclusive, ordering: .acquiringAndReleasing
        ).newValue
        if ReadWriteState.isAwaited(now) { unsafe settleAfterLeaving(thread) }
    }
}
