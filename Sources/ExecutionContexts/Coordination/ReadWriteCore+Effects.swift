internal import CPlatform
internal import Synchronization

/// What to do after unlocking: threads to wake, drains to request, reads to run.
struct Effects: ~Copyable {
    var woken: [Parker] = []
    /// Whether to request a drain on the write context.
    var mustRequestDrain = false
    /// How many enqueued reads were admitted that need a thread.
    var readyReads = 0
    /// Whether to schedule the reserve thread, for admitted reads that no other thread runs.
    var mustScheduleReserve = false
}

/// How waiters are admitted or woken, and how drains are requested.
///
/// | done under the lock | by `Effects`, after unlocking |
/// |---|---|
/// | count a waiting reader | `woken`: unpark it |
/// | mark a waiter as woken | `woken`: unpark it; it tries to enter |
/// | mark the first waiter as timing | `woken`: unpark it; it parks until it starves |
/// | count an enqueued read | `readyReads`: run it on the global context |
/// | note that the reserve thread is scheduled | `mustScheduleReserve`: schedule it |
/// | note that a drain is requested | `mustRequestDrain`: request it |
extension ReadWriteCore {
    /// Leaves, after being inside exclusively, and admits the next waiters; under the lock.
    func endExclusive(_ queues: inout CoordinatorQueues) -> Effects {
        // Relaxed: only the thread itself looks for its own number.
        unsafe writer.pointee.store(0, ordering: .relaxed)
        publish(queues.flags, clearing: ReadWriteState.exclusive)
        return admitNext(&queues)
    }

    /// Admits or wakes the waiters that can enter, and requests a drain if one is due; under the
    /// lock.
    func admitNext(_ queues: inout CoordinatorQueues) -> Effects {
        var effects = Effects()
        // First, so that a thread that is inside, or enters meanwhile, calls this again when it
        // leaves.
        publish(queues.flags)
        unsafe SimulationHooks.point(state, mode: ec_mode())
        let now = unsafe state.pointee.load(ordering: .sequentiallyConsistent)
        if now & ReadWriteState.exclusive != 0 { return effects }
        admitReaders(&queues, &effects)
        if !queues.ready.isEmpty, !queues.isReserveScheduled, SimulationHooks.current == nil {
            queues.isReserveScheduled = true
            effects.mustScheduleReserve = true
        }
        let inside = unsafe state.pointee.load(ordering: .sequentiallyConsistent)
        let isEmpty = ReadWriteState.readers(inside) == 0 && !hasSlotReaders
        if queues.completed < queues.limit {
            if isEmpty, !queues.isDrainRequested {
                queues.isDrainRequested = true
                effects.mustRequestDrain = true
            }
            if isEmpty { unsafe wake(queues.firstHelper, &queues, &effects) }
        } else if let next = unsafe queues.next(isRead: !isEmpty) {
            unsafe wake(next, &queues, &effects)
        }
        // A waiter that has become the first, and cannot enter, looks at the clock from then on.
        if effects.woken.isEmpty, let first = unsafe queues.overtaken {
            unsafe first.pointee.isTiming = true
            effects.woken.append(unsafe first.pointee.parker)
        }
        publish(queues.flags)
        return effects
    }

    /// Counts the enqueued reads that are ready and, while writes wait, the waiting readers that
    /// are.
    ///
    /// The writes submitted after such a reader would otherwise keep it out. No reader passes a
    /// first waiter that starves.
    private func admitReaders(_ queues: inout CoordinatorQueues, _ effects: inout Effects) {
        guard queues.jobs > 0 || queues.hasWrites else { return }
        var next = unsafe queues.waitQueue.first
        while let waiter = unsafe next {
            unsafe next = queues.waitQueue.next(after: waiter)
            let isJob = unsafe waiter.pointee.job != nil
            let isReady = unsafe waiter.pointee.position <= queues.completed
            guard unsafe isReady && waiter.pointee.request == .shared && (isJob || queues.hasWrites)
            else {
                // Behind an enqueued read that waits for writes no waiter is ready.
                if queues.isFirstStarving || isJob { return }
                continue
            }
            guard countAdmittedReader() else { return }
            if isJob {
                guard let read = unsafe queues.removeJob(waiter) else { continue }
                queues.ready.append(read)
                effects.readyReads += 1
            } else {
                unsafe queues.remove(waiter)
                unsafe waiter.pointee.isAdmitted = true
                effects.woken.append(unsafe waiter.pointee.parker)
            }
        }
    }

    private func wake(
        _ waiter: UnsafeMutablePointer<Waiter>?, _ queues: inout CoordinatorQueues,
        _ effects: inout Effects
    ) {
        guard let waiter = unsafe waiter, !queues.isWakePending else { return }
        queues.isWakePending = true
        unsafe waiter.pointee.isWoken = true
        effects.woken.append(unsafe waiter.pointee.parker)
    }

    /// Counts a reader whether or not admission is closed, unless a writer is inside.
    func countAdmittedReader() -> Bool {
        update { $0 & ReadWriteState.exclusive == 0 ? $0 + ReadWriteState.reader : nil } != nil
    }

    /// Performs the effects, after unlocking.
    func perform(_ effects: consuming Effects, _ thread: ThreadRecord) {
        for parker in effects.woken { unsafe parker.unpark(by: thread) }
        for _ in 0..<effects.readyReads { GlobalContext().execute { self.runReadyRead() } }
        if effects.mustScheduleReserve { scheduleReserve(seen: queues.withLock { $0.begun }) }
        if effects.mustRequestDrain { requestDrain(on: writeContext) }
    }

    /// Admits the next waiters, after the caller has left.
    func admitAfterLeaving(_ thread: ThreadRecord) {
        unsafe perform(queues.withLock { admitNext(&$0) }, thread)
    }
}
