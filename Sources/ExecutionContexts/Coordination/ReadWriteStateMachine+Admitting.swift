/// What a state machine asks for, performed by `LockExclusion` after unlocking.
///
/// | done under the lock | asked for | what follows |
/// |---|---|---|
/// | count a waiting reader | `unparks` | it is inside |
/// | mark a waiter as woken | `unparks` | it looks, and tries to enter |
/// | give the first waiter a starvation deadline | `unparks` | it parks until that deadline |
/// | count an enqueued read | `readsToRun` | it runs on the global context |
/// | note that the reserve thread is scheduled | `reserve` | it begins in a millisecond |
/// | note that a drain is requested | `mustRequestDrain` | the write context drains |
struct Effects: ~Copyable {
    var unparks: [Parker] = []
    var mustRequestDrain = false
    /// How many enqueued reads need a thread.
    var readsToRun = 0
    /// How many reads had begun when the reserve thread was requested, or nil.
    var reserve: UInt64?
}

/// Which waiters enter next, when a caller leaves, gives up, or is admitted beside others.
extension ReadWriteStateMachine {
    /// Admits or wakes the waiters that can enter, and requests a drain if one is due.
    ///
    /// 1. Publish the flags. If a writer is inside, it does the rest when it leaves.
    /// 2. Count the readers that may enter now; while writes are due, they would be kept out.
    /// 3. If writes are due and no caller is inside, request a drain, and wake a helper.
    /// 4. If no write is due, wake the first waiter that can enter.
    /// 5. If no waiter can enter, wake the first one, so that it sets its starvation deadline.
    mutating func admitNext() -> Effects {
        var effects = Effects()
        // First, so that a thread that is inside, or enters meanwhile, calls this again when it
        // leaves.
        publish()
        if admission.latest.isExclusive { return effects }
        admitReaders(&effects)
        // In a simulation each admitted read gets a thread.
        if !readyReads.isEmpty, !isReserveScheduled, SimulationHooks.current == nil {
            effects.reserve = scheduleReserve()
        }
        let isEmpty = !admission.current.hasCountedReaders && !admission.hasSlotReaders
        if !hasDueWrites {
            unsafe wake(firstReady(besideReaders: !isEmpty), &effects)
        } else if isEmpty {
            effects.mustRequestDrain = noteDrainRequest()
            unsafe wake(firstHelper, &effects)
        }
        if effects.unparks.isEmpty, let first = unsafe overtaken {
            unsafe first.pointee.details.hasStarvationDeadline = true
            effects.unparks.append(unsafe first.pointee.parker)
        }
        publish()
        return effects
    }

    /// Counts the enqueued reads that are ready and, while writes wait, the waiting readers that
    /// are.
    ///
    /// The writes submitted after such a reader would otherwise keep it out. No reader passes a
    /// first waiter that starves.
    private mutating func admitReaders(_ effects: inout Effects) {
        guard waitingReads > 0 || hasWrites else { return }
        var next = unsafe waitQueue.first
        while let waiter = unsafe next {
            unsafe next = waitQueue.next(after: waiter)
            let isEnqueued = unsafe waiter.pointee.details.isEnqueuedRead
            guard
                unsafe isDue(waiter) && waiter.pointee.details.request == .shared
                    && (isEnqueued || hasWrites)
            else {
                // Behind an enqueued read that waits for writes no waiter is ready.
                if isFirstStarving || isEnqueued { return }
                continue
            }
            guard admission.admitReader() else { return }
            if isEnqueued {
                guard let read = unsafe removeRead(waiter) else { continue }
                readyReads.append(read)
                effects.readsToRun += 1
            } else {
                unsafe remove(waiter)
                unsafe waiter.pointee.isAdmitted = true
                effects.unparks.append(unsafe waiter.pointee.parker)
            }
        }
    }

    private mutating func wake(_ waiter: WaiterPointer?, _ effects: inout Effects) {
        guard let waiter = unsafe waiter, !isWakePending else { return }
        isWakePending = true
        unsafe waiter.pointee.isWoken = true
        effects.unparks.append(unsafe waiter.pointee.parker)
    }

    // MARK: The wait queue

    mutating func remove(_ waiter: WaiterPointer) {
        if unsafe waiter.pointee.isWoken { isWakePending = false }
        if unsafe waiter == waitQueue.first { isFirstStarving = false }
        unsafe waitQueue.remove(waiter)
    }

    /// The first waiter, if only threads inside keep it out and it has no starvation deadline
    /// yet.
    private var overtaken: WaiterPointer? {
        guard let first = unsafe waitQueue.first,
            unsafe !first.pointee.details.hasStarvationDeadline
                && !first.pointee.details.isEnqueuedRead
                && isDue(first)
        else { return nil }
        return unsafe first
    }

    /// The first waiter that may run writes itself, or drive the write context.
    private var firstHelper: WaiterPointer? {
        guard waitQueue.count > waitingReads else { return nil }
        return unsafe waitQueue.first { unsafe mayHelp($0) || $0.pointee.details.drives }
    }

    /// The first waiting thread that can enter, while no thread is inside exclusively.
    private func firstReady(besideReaders: Bool) -> WaiterPointer? {
        func canEnter(_ waiter: WaiterPointer) -> Bool {
            unsafe (waiter.pointee.details.request == .shared || !besideReaders) && isDue(waiter)
        }
        // No waiter passes a first one that starves. `admitReaders` admits enqueued reads, and
        // behind one that waits for writes no waiter is ready.
        let first = unsafe waitQueue.first {
            unsafe isFirstStarving || $0.pointee.details.isEnqueuedRead || canEnter($0)
        }
        guard let first = unsafe first,
            unsafe !first.pointee.details.isEnqueuedRead && canEnter(first)
        else { return nil }
        return unsafe first
    }

    /// Whether an enqueued read that can be admitted is queued before `waiter`.
    func hasReadyRead(before waiter: WaiterPointer) -> Bool {
        guard waitingReads > 0 else { return false }
        let first = unsafe waitQueue.first {
            unsafe $0 == waiter || $0.pointee.details.isEnqueuedRead
        }
        guard let first = unsafe first, unsafe first != waiter else { return false }
        return unsafe isDue(first)
    }
}

extension WaiterQueue<WaitDetails> {
    func first(where matches: (WaiterPointer) -> Bool)
        -> WaiterPointer?
    {
        var next = unsafe first
        while let waiter = unsafe next, unsafe !matches(waiter) {
            unsafe next = self.next(after: waiter)
        }
        return unsafe next
    }
}
