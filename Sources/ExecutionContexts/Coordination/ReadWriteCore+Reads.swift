internal import CPlatform
internal import Dispatch
internal import Synchronization

/// Enqueued reads, and how a counted reader leaves.
extension ReadWriteCore {
    /// Runs a read on the global context after the writes before it. No thread waits for it.
    ///
    /// The read joins the wait queue like a thread and is counted when it is admitted, so no later
    /// write overtakes it.
    func enqueueRead(_ read: consuming @escaping Work) {
        if isOverContext, let base {
            let read = MovedWork(consume read)
            return base.enqueue { self.markingRead(read.run) }
        }
        let thread = unsafe Threads.current
        // Unmanaged: see `enqueue`.
        let read = UnmanagedWork(consume read)
        let effects = queues.withLock { queues in
            unsafe queues.appendRead(read.assembled(), by: thread)
            return admitNext(&queues)
        }
        unsafe perform(effects, thread)
    }

    func runReadyRead() {
        // The reserve thread may have run it already.
        var read = queues.withLock { $0.nextReady() }
        if read != nil { unsafe runCounted(&read, Threads.current) }
    }

    /// Starts a system thread in a millisecond for the admitted reads: the reserve thread.
    ///
    /// An admitted read keeps writers out. If every thread of the global context waits for those
    /// writers, none is left for the read. A dispatch queue of its own gets a thread all the same.
    func scheduleReserve(seen begun: UInt64) {
        DispatchQueue(label: "\(name).reads").asyncAfter(deadline: .now() + .milliseconds(1)) {
            self.runReserve(seen: begun)
        }
    }

    /// Runs the admitted reads, unless one of them has begun since the reserve thread was
    /// scheduled.
    private func runReserve(seen begun: UInt64) {
        var read: Work?
        let next: UInt64? = queues.withLock { queues in
            if queues.begun == begun { read = queues.nextReady() }
            queues.isReserveScheduled = !queues.ready.isEmpty
            return queues.isReserveScheduled ? queues.begun : nil
        }
        // Before the read: it may wait for another one behind it.
        if let next { scheduleReserve(seen: next) }
        while read != nil {
            unsafe runCounted(&read, Threads.current)
            read = queues.withLock { $0.nextReady() }
        }
    }

    /// Runs an admitted read, and frees it before it leaves the count (law 10).
    private func runCounted(_ read: inout Work?, _ thread: ThreadRecord) {
        let slot = unsafe ReaderSlots.push(thread)
        unsafe slot.pointee.store(announcement | 1, ordering: .releasing)  // As in `enter`.
        read.take()?()
        unsafe slot.pointee.store(0, ordering: .releasing)
        unsafe ReaderSlots.pop(thread)
        unsafe leaveCounted(thread)
    }

    func leaveCounted(_ thread: ThreadRecord) {
        unsafe SimulationHooks.point(state, mode: ec_mode())
        // Releasing what the reader has read before a writer changes it; acquiring for the waiters
        // that it admits.
        let now = unsafe state.pointee.wrappingSubtract(
            ReadWriteState.reader, ordering: .acquiringAndReleasing
        ).newValue
        if ReadWriteState.readers(now) == 0 && ReadWriteState.mustAdmitNext(now) {
            unsafe admitAfterLeaving(thread)
        }
    }
}
