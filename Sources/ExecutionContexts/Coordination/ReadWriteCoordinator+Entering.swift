public import CPlatform
public import Synchronization

/// The short way in and out of a read, which client code contains, and where the longer ways begin.
extension ReadWriteCoordinator {
    /// Enters by claim where that is open: a write to the thread's own slot, and a look at the word.
    ///
    /// In portable mode and under a simulator the longer way does the same, with a barrier and scheduling points.
    @inlinable @inline(__always)
    func enter(_ thread: ThreadRecord, until deadline: Int64) -> ReadEntry? {
        let slot = unsafe HeldSlots.first(thread)
        // Relaxed, both: the thread's own word, and a first look that spares a claim to be taken back.
        let own = unsafe slot.pointee.load(ordering: .relaxed)
        let now = unsafe state.pointee.load(ordering: .relaxed)
        let isOpen = now & ReadWriteState.doors == ReadWriteState.biased
        guard own | UInt(ec_mode()) == 0, isOpen else {
            return unsafe enterSlowly(thread, hasClaimed: false, until: deadline)
        }
        unsafe Seam.publishAtOnce(UInt(bitPattern: state), in: slot)
        // Acquiring: what the last writer did is seen.
        let then = unsafe state.pointee.load(ordering: .acquiring)
        if then & ReadWriteState.doors == ReadWriteState.biased { return .first }
        return unsafe enterSlowly(thread, hasClaimed: true, until: deadline)
    }

    @inlinable @inline(__always)
    func leave(_ entry: ReadEntry, _ thread: ThreadRecord) {
        if entry == .first {
            unsafe Seam.publishAtOnce(0, in: HeldSlots.first(thread))
            // Relaxed: whoever took the bias back, and has not seen this, is told.
            let now = unsafe state.pointee.load(ordering: .relaxed)
            if now & ReadWriteState.claimed == 0 { return }
        }
        unsafe leaveSlowly(entry, thread)
    }

    @usableFromInline @inline(never)
    func enterSlowly(_ thread: ThreadRecord, hasClaimed: Bool, until deadline: Int64) -> ReadEntry? {
        unsafe core.enterToRead(thread, hasClaimed: hasClaimed, until: deadline)
    }

    @usableFromInline @inline(never)
    func leaveSlowly(_ entry: ReadEntry, _ thread: ThreadRecord) {
        unsafe core.leaveReading(entry, thread)
    }

    /// Enters to write, where the thread is not writing already and no context is to run it.
    @usableFromInline
    func beginWriting(_ thread: ThreadRecord, until deadline: Int64) -> WriteEntry {
        if unsafe core.isWriting(thread) { return .nested }
        if core.isOverContext { return .elsewhere }
        return unsafe core.enterToWrite(thread, until: deadline) ? .alone : .late
    }

    @usableFromInline
    func endWriting(_ thread: ThreadRecord) { unsafe core.leaveWriting(thread) }
}

/// How a writer is inside.
@usableFromInline
enum WriteEntry: UInt8 {
    case alone
    /// Inside a write of the same thread.
    case nested
    /// Not at all: the context that the coordinator stands over is to run it.
    case elsewhere
    /// Not at all: the time was up.
    case late
}
