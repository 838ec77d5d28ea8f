internal import CPlatform
internal import Synchronization

/// Reads that wait without a thread, and how those leave that were counted in.
extension ReadWriteCore {
    /// Runs a read when the writes before it are done, on the global context: no thread waits for it.
    func enqueueRead(_ read: @escaping Work) {
        if isOverContext, let base { return base.enqueue { self.markingRead { () throws(Never) in read() } } }
        let rest = line.withLock { line in
            line.reads.append(read, at: line.submitted)
            return settle(&line)
        }
        unsafe see(to: rest, Threads.current)
    }

    func runReadyRead() {
        // A thread that waited may have run it already.
        guard let read = line.withLock({ $0.ready.popFirst() }) else { return }
        unsafe runCounted(read, Threads.current)
    }

    func runCounted(_ read: Work, _ thread: ThreadRecord) {
        let slot = unsafe HeldSlots.push(thread)
        unsafe slot.pointee.store(claim | 1, ordering: .releasing)  // As in `enter`.
        read()
        unsafe slot.pointee.store(0, ordering: .releasing)
        unsafe HeldSlots.pop(thread)
        unsafe leaveCounted(thread)
    }

    func leaveCounted(_ thread: ThreadRecord) {
        unsafe Seam.point(state, mode: ec_mode())
        // Releasing what the reader has read before a writer changes it; acquiring for whom it lets in.
        let now = unsafe state.pointee.wrappingSubtract(
            ReadWriteState.reader, ordering: .acquiringAndReleasing
        ).newValue
        if ReadWriteState.readers(now) == 0 && ReadWriteState.isAwaited(now) {
            unsafe settleAfterLeaving(thread)
        }
    }
}
