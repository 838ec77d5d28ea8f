internal import CPlatform
internal import Synchronization

/// How a thread waits at a coordinator.
///
/// 1. Spin for a moment, while admission is open.
/// 2. Look under the lock: enter, help, or join the wait queue and look once more.
/// 3. Park. A thread that leaves wakes one waiter, which repeats from step 2.
extension ReadWriteCore {
    /// Waits and enters; false if `deadline` came first.
    func wait(_ thread: ThreadRecord, _ request: Waiter.WaitRequest, until deadline: Int64) -> Bool
    {
        // A caller that gives up at once does not spin either.
        if unsafe deadline != .min && spin(thread, request) { return true }
        var waiter = unsafe Waiter(thread, request, helps: mayHelp(thread, until: deadline))
        waiter.helpsWithDropped = unsafe deadline == Parker.never && !Threads.own.pointee.is_main
        waiter.position = .max
        return unsafe withUnsafeMutablePointer(to: &waiter) { unsafe wait($0, until: deadline) }
    }

    private func wait(_ waiter: UnsafeMutablePointer<Waiter>, until deadline: Int64) -> Bool {
        let thread = unsafe waiter.pointee.thread
        while true {
            var effects = Effects()
            let step = queues.withLock { queues in
                unsafe attempt(waiter, until: deadline, &queues, &effects)
            }
            unsafe perform(effects, thread)
            switch step {
            case .enter: return true
            case .giveUp: return false
            case .help: if unsafe help(waiter) { return true }
            case .forecast: unsafe waiter.pointee.foresee(WaitForecast.of(writeContext).isUnclear)
            case .awaitDrain where awaitDrain(): continue
            case .awaitDrain: unsafe waiter.pointee.parker.park(until: deadline)
            case .park(let end):
                unsafe SimulationHooks.waits(for: state, writer, writeContext.name)
                unsafe waiter.pointee.parker.park(until: end)
            }
        }
    }

    private enum Step {
        case enter, giveUp
        case park(until: Int64)
        /// The caller is inside exclusively, to run the writes before it.
        case help
        /// The caller must compute whether the write context can run the writes before it.
        case forecast
        /// The writes before the caller wait for a drain on a write context that may have to be
        /// driven, or whose drain may never begin.
        case awaitDrain
    }

    /// Waits for the requested drain; false if the write context drops the jobs it is given.
    ///
    /// Drives a write context that runs its jobs only while a thread drives it, and traps where the
    /// drain can never begin (law 27).
    private func awaitDrain() -> Bool {
        AwaitedEnd.result(of: { () throws(Never) in }, from: writeContext, named: name) {
            writeContext.execute($0, refused: { _ in })
        } != nil
    }

    /// Decides what a waiter does next; under the lock.
    private func attempt(
        _ waiter: UnsafeMutablePointer<Waiter>, until deadline: Int64,
        _ queues: inout CoordinatorQueues,
        _ effects: inout Effects
    ) -> Step {
        if unsafe waiter.pointee.isAdmitted { return .enter }
        let wasWoken = unsafe waiter.pointee.isWoken
        var isQueued = unsafe waiter.pointee.isQueued
        if unsafe waiter.pointee.position == .max {
            unsafe waiter.pointee.position = queues.submitted
        }
        if deadline == Parker.never, unsafe queues.needsForecast(waiter) { return .forecast }
        if wasWoken {
            unsafe waiter.pointee.isWoken = false
            queues.isWakePending = false
            // Before the look, so that a thread that leaves after it wakes a waiter.
            publish(queues.flags)
        }
        while true {
            if let step = unsafe enter(waiter, &queues, &effects) { return step }
            let now = unsafe SimulationHooks.now(waiter.pointee.thread)
            if deadline == .min || now >= deadline {
                if isQueued { unsafe queues.remove(waiter) }
                effects = admitNext(&queues)
                return .giveUp
            }
            if isQueued {
                let end = unsafe starvationDeadline(waiter, now: now, &queues)
                // No other waiter was woken while this wake-up was pending, so this thread wakes
                // the next one.
                if wasWoken { effects = admitNext(&queues) }
                return unsafe awaitsDrain(waiter, queues)
                    ? .awaitDrain : .park(until: min(deadline, end))
            }
            unsafe queues.waitQueue.append(waiter)
            unsafe waiter.pointee.isQueued = true
            isQueued = true
            publish(queues.flags)
            // Once more: a thread that left before this waiter was published woke no waiter.
        }
    }

    /// The time at which the first waiter, kept out only by threads that are inside, closes
    /// admission.
    ///
    /// By the clock and not at a wake-up: overlapping readers, each entering before another leaves,
    /// wake no waiter.
    private func starvationDeadline(
        _ waiter: UnsafeMutablePointer<Waiter>, now: Int64, _ queues: inout CoordinatorQueues
    ) -> Int64 {
        guard unsafe queues.waitQueue.first == waiter,
            unsafe waiter.pointee.position <= queues.completed
        else {
            return Parker.never
        }
        unsafe waiter.pointee.isTiming = true
        let end = unsafe waiter.pointee.since + 1_000_000
        if now < end { return end }
        queues.isFirstStarving = true
        publish(queues.flags)
        return Parker.never
    }

    private func enter(
        _ waiter: UnsafeMutablePointer<Waiter>, _ queues: inout CoordinatorQueues,
        _ effects: inout Effects
    ) -> Step? {
        let thread = unsafe waiter.pointee.thread
        if unsafe waiter.pointee.position > queues.completed {
            if unsafe queues.mayHelp(waiter), queues.completed < queues.limit,
                unsafe tryExclude(thread)
            {
                return .help
            }
        } else if unsafe !queues.isFirstStarving || queues.waitQueue.first == waiter {
            let isIn =
                unsafe waiter.pointee.request == .shared
                ? countAdmittedReader() : !queues.hasReadyJob(before: waiter) && tryExclude(thread)
            if isIn {
                unsafe leaveQueue(waiter, &queues, &effects)
                return .enter
            }
        }
        return nil
    }

    /// Whether a waiter needs a drain on the write context, which is requested.
    private func awaitsDrain(
        _ waiter: UnsafeMutablePointer<Waiter>, _ queues: borrowing CoordinatorQueues
    )
        -> Bool
    {
        guard
            unsafe waiter.pointee.drives && waiter.pointee.position > queues.completed
                && queues.isDrainRequested
        else { return false }
        // Relaxed: a thread that is inside exclusively admits waiters when it leaves, under the
        // lock that the caller has.
        return unsafe state.pointee.load(ordering: .relaxed) & ReadWriteState.exclusive == 0
    }

    private func leaveQueue(
        _ waiter: UnsafeMutablePointer<Waiter>, _ queues: inout CoordinatorQueues,
        _ effects: inout Effects
    ) {
        if unsafe waiter.pointee.isQueued { unsafe queues.remove(waiter) }
        // Other waiters may enter beside a reader. Behind a writer they wait on.
        if unsafe waiter.pointee.request == .shared {
            effects = admitNext(&queues)
        } else {
            publish(queues.flags)
        }
    }

    /// Runs the writes before a waiter that is inside exclusively; true if it entered that way.
    private func help(_ waiter: UnsafeMutablePointer<Waiter>) -> Bool {
        let thread = unsafe waiter.pointee.thread
        let ran = unsafe runWrites(to: waiter.pointee.position) { false }
        var effects = Effects()
        let isIn = queues.withLock { queues in
            queues.completed += ran
            let isReader = unsafe waiter.pointee.request == .shared
            let isDue = unsafe waiter.pointee.position <= queues.completed
            guard unsafe isDue && (isReader || !queues.hasReadyJob(before: waiter)) else {
                // A waiting writer stands between, or, before a writer, an enqueued read that is
                // ready.
                effects = endExclusive(&queues)
                return false
            }
            if isReader {
                unsafe writer.pointee.store(0, ordering: .relaxed)  // As in `endExclusive`.
                update { $0 & ~ReadWriteState.exclusive + ReadWriteState.reader }
            }
            unsafe leaveQueue(waiter, &queues, &effects)
            return true
        }
        unsafe perform(effects, thread)
        return isIn
    }

    /// Whether a waiting thread may run the writes before it (law 20).
    ///
    /// A thread with a time limit may do so only on the write context, where no other thread could:
    /// a write may take any time.
    private func mayHelp(_ thread: ThreadRecord, until deadline: Int64) -> Bool {
        if writeContext.isCurrent == true { return true }
        return unsafe deadline == Parker.never && writeContext.runsAnywhere
            && !Threads.own.pointee.is_main
    }

    /// Spins for a moment: most reads and writes are short, and parking takes long.
    private func spin(_ thread: ThreadRecord, _ request: Waiter.WaitRequest) -> Bool {
        if unsafe thread.pointee.simulation != nil { return false }
        for _ in 0..<100 {
            // Relaxed loads: a hint; spinning does not take the cache line from the thread that is
            // inside.
            let now = unsafe state.pointee.load(ordering: .relaxed)
            if now & ReadWriteState.exclusive != 0 {
                ec_relax()
                continue
            }
            // Which waiter enters next is decided under the lock.
            if now & ReadWriteState.closed != 0 { return false }
            if request == .shared {
                if tryCountReader() { return true }
            } else {
                // The bias is revoked only under the lock.
                if now & (ReadWriteState.biased | ReadWriteState.revoking) != 0 { return false }
                if ReadWriteState.isVacant(now), unsafe tryEnterVacant(thread) { return true }
            }
            ec_relax()
        }
        return false
    }
}
