internal import CPlatform
internal import Dispatch
internal import Synchronization

/// Reads that wait without a thread, and how those leave that were counted in.
extension ReadWriteCore {
    /// Runs a read when the writes before it are done, on the global context: no thread waits for it.
    ///
    /// The read stands in line like a thread, and is counted in when its turn comes, so no later write overtakes it.
    func enqueueRead(_ read: consuming @escaping Work) {
        if isOverContext, let base {
            let read = MovedWork(consume read)
            return base.enqueue { self.markingRead(read.run) }
        }
        let thread = unsafe Threads.current
        // Taken apart: see `enqueue`.
        let read = LooseWork(consume read)
        let rest = line.withLock { line in
            unsafe line.appendRead(read.assembled(), by: thread)
            return settle(&line)
        }
        unsafe see(to: rest, thread)
    }

    func runReadyRead() {
        // A reserve may have run it already.
        var read = line.withLock { $0.nextReady() }
        if read != nil { unsafe runCounted(&read, Threads.current) }
    }

    /// Has a thread of the system's come in a millisecond for the reads that have been counted in.
    ///
    /// A read that has been counted in keeps writers out. If every thread of the global context waits for those, none
    /// is left for the read. A queue of its own gets one all the same.
    func callReserve(seen begun: UInt64) {
        DispatchQueue(label: "\(name).reads").asyncAfter(deadline: .now() + .milliseconds(1)) {
            self.runReserve(seen: begun)
        }
    }

    /// Runs the reads that have been counted in, unless one of them has begun since the reserve was called.
    private func runReserve(seen begun: UInt64) {
        var read: Work?
        let next: UInt64? = line.withLock { line in
            if line.begun == begun { read = line.nextReady() }
            line.isReserveComing = !line.ready.isEmpty
            return line.isReserveComing ? line.begun : nil
        }
        // Before the read: it may wait for one behind it.
        if let next { callReserve(seen: next) }
        while read != nil {
            unsafe runCounted(&read, Threads.current)
            read = line.withLock { $0.nextReady() }
        }
    }

    /// Runs a read that has been counted in, and frees it before it is counted out (law 10).
    private func runCounted(_ read: inout Work?, _ thread: ThreadRecord) {
        let slot = unsafe HeldSlots.push(thread)
        unsafe slot.pointee.store(claim | 1, ordering: .releasing)  // As in `enter`.
        read.take()?()
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
