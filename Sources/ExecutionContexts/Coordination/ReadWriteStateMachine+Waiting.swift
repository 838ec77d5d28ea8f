/// What a waiter does next, after a look under the lock.
enum WaitStep {
    case enter, giveUp
    case park(until: Int64)
    /// The waiter is inside exclusively, to run the writes before it.
    case help
    /// The waiter must find out whether the write context can run the writes before it.
    case forecast
    /// The writes before the waiter wait for a drain on a write context that may have to be
    /// driven, or whose drain may never begin.
    case awaitDrain
}

/// The look of a waiter.
extension ReadWriteStateMachine {
    /// Decides what a waiter does next.
    ///
    /// 1. If it was admitted, it enters.
    /// 2. At the first look it takes its position.
    /// 3. If it was woken, publish that its wake-up is no longer pending.
    /// 4. Try to enter, or to help.
    /// 5. At its deadline, give up.
    /// 6. If it is not queued, join the wait queue, publish that, and try once more: a thread that
    ///    left before the publication woke no waiter.
    /// 7. Park.
    mutating func look(
        _ waiter: WaiterPointer, until deadline: Int64, _ effects: inout Effects
    ) -> WaitStep {
        if unsafe waiter.pointee.isAdmitted { return .enter }
        if unsafe waiter.pointee.details.position == .max {
            unsafe waiter.pointee.details.position = submitted
        }
        if deadline == Parker.never, unsafe needsForecast(waiter) { return .forecast }
        let wasWoken = unsafe waiter.pointee.isWoken
        if wasWoken {
            unsafe waiter.pointee.isWoken = false
            isWakePending = false
            // Before the try, so that a thread that leaves after it wakes a waiter.
            publish()
        }
        while true {
            if let step = unsafe tryToEnter(waiter, &effects) { return step }
            let now = unsafe SimulationHooks.now(waiter.pointee.thread)
            if deadline == .min || now >= deadline {
                if unsafe waiter.pointee.details.isQueued { unsafe remove(waiter) }
                effects = admitNext()
                return .giveUp
            }
            if unsafe waiter.pointee.details.isQueued {
                let end = unsafe starvationDeadline(waiter, now: now)
                // No other waiter was woken while this wake-up was pending, so this thread wakes
                // the next one.
                if wasWoken { effects = admitNext() }
                return unsafe awaitsDrain(waiter) ? .awaitDrain : .park(until: min(deadline, end))
            }
            unsafe waitQueue.append(waiter)
            unsafe waiter.pointee.details.isQueued = true
            publish()
        }
    }

    /// Lets a waiter enter or help, if it can.
    ///
    /// | the writes before it | the waiter | condition |
    /// |---|---|---|
    /// | have not all run | helps | it may, a write is due, and no caller is inside |
    /// | have run | reads | no writer is inside |
    /// | have run | writes | no caller is inside, and no ready enqueued read is before it |
    ///
    /// Only the first waiter enters while it starves.
    private mutating func tryToEnter(
        _ waiter: WaiterPointer, _ effects: inout Effects
    ) -> WaitStep? {
        let thread = unsafe waiter.pointee.thread
        guard unsafe isDue(waiter) else {
            let helps = unsafe mayHelp(waiter) && hasDueWrites && admission.tryExclude(thread)
            return helps ? .help : nil
        }
        if unsafe isFirstStarving && waitQueue.first != waiter { return nil }
        let isInside =
            unsafe waiter.pointee.details.request == .shared
            ? admission.admitReader()
            : !hasReadyRead(before: waiter) && admission.tryExclude(thread)
        guard isInside else { return nil }
        unsafe leaveQueue(waiter, &effects)
        return .enter
    }

    /// A waiter that is inside leaves the queue.
    mutating func leaveQueue(_ waiter: WaiterPointer, _ effects: inout Effects) {
        if unsafe waiter.pointee.details.isQueued { unsafe remove(waiter) }
        // Other waiters may enter beside a reader. Behind a writer they wait on.
        if unsafe waiter.pointee.details.request == .shared {
            effects = admitNext()
        } else {
            publish()
        }
    }

    /// The time at which the first waiter, kept out only by threads that are inside, closes
    /// admission.
    ///
    /// By the clock and not at a wake-up: overlapping readers, each entering before another leaves,
    /// wake no waiter.
    private mutating func starvationDeadline(
        _ waiter: WaiterPointer, now: Int64
    ) -> Int64 {
        guard unsafe waitQueue.first == waiter && isDue(waiter) else { return Parker.never }
        unsafe waiter.pointee.details.hasStarvationDeadline = true
        let end = unsafe waiter.pointee.since + 1_000_000
        if now < end { return end }
        isFirstStarving = true
        publish()
        return Parker.never
    }

    /// Whether a waiter needs a drain on the write context, which is requested.
    private func awaitsDrain(_ waiter: WaiterPointer) -> Bool {
        // The hint suffices: a thread that is inside exclusively admits waiters when it leaves,
        // under the lock.
        unsafe waiter.pointee.details.drives && !isDue(waiter) && isDrainRequested
            && !admission.hint.isExclusive
    }

    func mayHelp(_ waiter: WaiterPointer) -> Bool {
        unsafe waiter.pointee.details.helps
            || hasDroppedDrain && waiter.pointee.details.helpsWithDropped
    }

    /// Whether a waiter, not yet queued, needs to know if the write context can run the writes
    /// before it.
    private func needsForecast(_ waiter: WaiterPointer) -> Bool {
        unsafe !waiter.pointee.details.hasForeseen && !waiter.pointee.details.helps
            && !isDue(waiter)
    }
}
