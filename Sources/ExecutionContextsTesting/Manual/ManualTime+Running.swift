internal import ExecutionContexts

// The interface for manual contexts.
extension ManualTime {
    func open(_ queue: ManualReadyQueue) {
        let isFirst = state.withLock { state in
            state.queues.append(queue)
            defer { state.isWatched = true }
            return !state.isWatched
        }
        if isFirst { UndrivenTimes.all.add(self) }
    }

    /// Removes a queue whose context was released, as soon as the queue is empty.
    func close(_ queue: ManualReadyQueue) {
        state.withLock { state in
            queue.isOwned = false
            if queue.count == 0 { state.queues.removeAll { $0 === queue } }
        }
    }

    /// Takes over the one reference that `work` carries, and passes it to the queue.
    ///
    /// The closure is assembled under the lock, so that only the queue has it afterwards: the
    /// thread that runs it frees it (law 10). Assembling runs no code of the user's (law 9).
    func submit(_ work: UnmanagedWork, to queue: ManualReadyQueue) {
        state.withLock { $0.submit(work.assembled(), to: queue) }.notify()
    }

    func isRunning(_ queue: ManualReadyQueue) -> Bool { state.withLock { $0.isRunning(queue) } }

    var isEmpty: Bool { state.withLock { $0.isEmpty } }

    func readyCount(of queue: ManualReadyQueue) -> Int { state.withLock { _ in queue.count } }

    func delayedCount(of queue: ManualReadyQueue) -> Int {
        state.withLock { $0.delayedCount(of: queue) }
    }

    func pending(of queue: ManualReadyQueue?) -> [PendingWork] {
        let (ready, delays) = state.withLock { state in
            let pending = state.pending(of: queue)
            // Under the lock: another thread may take a ready job, which then gives up its source,
            // and frees it where it runs (law 10).
            return (pending.ready.map { PendingWork($0, of: $1) }, pending.delays)
        }
        // The name of a context may be user code, so it is read outside the lock (law 9).
        return ready + delays.map { PendingWork($0) }
    }

    func step(_ queue: ManualReadyQueue?, _ name: String) -> Bool {
        driving(name) { runOne(queue) }
    }

    func runReady(_ queue: ManualReadyQueue?, _ name: String) -> Int {
        driving(name) { runAll(queue, upTo: nil, name) }
    }

    func advance(to instant: ContextInstant, _ name: String) {
        driving(name) {
            _ = runAll(nil, upTo: instant, name)
            state.withLock { $0.now = max($0.now, instant) }
        }
    }

    func runUntilIdle(_ limit: Int, _ name: String, _ sourceLocation: String) throws -> Int {
        var count = 0
        _ = try run(name, sourceLocation, limit: limit, count: &count) {
            state.withLock { $0.foreground == 0 }
        }
        return count
    }

    /// Runs every job, advancing time, until `isOver` returns true; returns false if nothing is
    /// pending before that.
    func run(
        _ name: String, _ sourceLocation: String, limit: Int, count: inout Int,
        until isOver: () -> Bool
    ) throws -> Bool {
        try driving(name) {
            while !isOver() {
                guard count < limit else {
                    throw failure(.neverIdle(afterJobs: limit), name, sourceLocation)
                }
                guard runOne(nil, upTo: .never) else { return isOver() }
                count += 1
            }
            return true
        }
    }

    /// Calls `notify` with true when a job is submitted, or at once if work is pending.
    func onArrival(_ notify: @escaping @Sendable (Bool) -> Void) {
        let (isPending, other) = state.withLock { state -> (Bool, (@Sendable (Bool) -> Void)?) in
            guard state.isEmpty else { return (true, nil) }
            let other = state.arrival
            state.arrival = notify
            return (false, other)
        }
        if isPending { notify(true) }
        // Only one caller waits at a time: the earlier one is notified and checks again.
        other?(true)
    }

    func finish(_ queue: ManualReadyQueue?, _ name: String, _ sourceLocation: String) throws {
        let failure = failure(.unfinished, name, sourceLocation, of: queue)
        // A dropped closure may submit in its deinit, so there are several rounds, but a bounded
        // number.
        for _ in 0..<100 {
            let (ready, delays) = state.withLock { $0.takeAll(of: queue) }
            if ready.isEmpty, delays.isEmpty { break }
            for entry in delays { entry.delay.cancel() }
        }
        if failure.pending.contains(where: { !$0.isBackground }) { throw failure }
    }

    func failure(
        _ reason: ManualFailure.Reason, _ name: String, _ sourceLocation: String,
        of queue: ManualReadyQueue? = nil
    ) -> ManualFailure {
        var pending = pending(of: queue)
        if reason == .unfinished { pending.removeAll { $0.isBackground } }
        return ManualFailure(
            reason: reason, context: name, sourceLocation: sourceLocation, pending: pending)
    }

    // MARK: Running

    /// Fires the due delays and runs one job, advancing time up to `limit` for it; returns false if
    /// there is none.
    private func runOne(_ queue: ManualReadyQueue?, upTo limit: ContextInstant? = nil) -> Bool {
        while true {
            var step = state.withLock { $0.next(queue, upTo: limit) }
            if step.due.isEmpty {
                guard step.job != nil else { return false }
                // The closure is released when this statement ends, on the context that ran it
                // (law 10).
                // The deadline of the test that runs it is not its submitter's (law 38).
                Deadline.without { Caller.runJob(of: self) { step.job.take()?.work() } }
                return true
            }
            Deadline.without { step.due[0].fire() }
            for delay in step.due.dropFirst() {
                state.withLock { $0.willFire(delay) }
                Deadline.without { delay.fire() }
            }
        }
    }

    private func runAll(_ queue: ManualReadyQueue?, upTo instant: ContextInstant?, _ name: String)
        -> Int
    {
        var count = 0
        while runOne(queue, upTo: instant) {
            count += 1
            require(
                count < limit,
                "'\(name)' ran \(limit) jobs in one call, and more are pending (law 7): "
                    + "\(pending(of: nil).first.map { "\($0)" } ?? "none is pending now"). Cancel repeating work, or advance "
                    + "by less.")
        }
        return count
    }

    /// Runs `body` while no other thread drives this time.
    ///
    /// If a thread drives only because it waits for a job, the caller waits for it: the test need
    /// not know about that thread.
    private func driving<Result>(_ name: String, _ body: () throws -> Result) rethrows -> Result {
        let caller = SimulationHooks.caller
        let driverEnd = AwaitedEnd()
        while let driver = state.withLock({ $0.beginDriving(caller, orWake: driverEnd) }) {
            if driver.thread == caller || !driver.isWaiter {
                let how =
                    driver.thread == caller
                    ? "from within its own work" : "by two threads at a time"
                stopMisuse(
                    "'\(name)' was driven \(how), but it is serial (law 2). Drive it from the test; jobs may only submit."
                )
            }
            driverEnd.park()
        }
        defer { endDriving() }
        return try body()
    }

    private func endDriving() {
        let waiters = state.withLock { state in
            state.clearRunning()
            state.driver = nil
            defer { state.waiters = [] }
            return state.waiters
        }
        for waiter in waiters { waiter.unpark() }
    }

    // MARK: Waiting callers

    /// Runs the ready jobs of a queue until `end` has happened, for a thread that waits for one of
    /// its jobs.
    ///
    /// 1. If another thread drives this time, that thread may run the job, and the caller waits.
    /// 2. If no thread drives it, the caller drives until `end` has happened or the queue is empty.
    /// 3. If the caller itself drives it, and waits inside a job of another queue, the jobs of this
    ///    queue run inside that job.
    func drive(_ queue: ManualReadyQueue, until end: AwaitedEnd) {
        while !end.isFreed {
            let caller = SimulationHooks.caller
            let isNested = state.withLock { state -> Bool? in
                guard let driver = state.driver else {
                    state.driver = .init(thread: caller, isWaiter: true)
                    return false
                }
                guard driver.thread == caller else { return nil }
                state.beginNested()
                return true
            }
            if let isNested {
                while !end.isFreed, runOne(queue) {}
                isNested ? state.withLock { $0.endNested() } : endDriving()
            }
            let mustWait = state.withLock { state in
                if end.isFreed
                    || queue.count > 0 && (state.driver == nil || state.driver?.thread == caller)
                {
                    return false
                }
                state.waiters.append(end)
                return true
            }
            if mustWait { end.park() }
        }
    }
}
