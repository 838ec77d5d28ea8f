internal import CPlatform
internal import Synchronization

// What a worker does while it has a thread.
extension PoolCore {
    /// Runs what there is; called on the worker's thread, once for each call of it. It comes as one that searches.
    func work(_ worker: PoolWorker) {
        arrive(worker)
        worker.occupy {
            unsafe Frame.enterJobs(of: Frame.owner(self)) {
                while runFound(worker) {
                    guard runOwn(worker) else { return }
                    // Relaxed: see `callIfShort`.
                    searching.add(1, ordering: .relaxed)
                }
            }
        }
    }

    /// The worker has a thread, this one, which is awake.
    private func arrive(_ worker: PoolWorker) {
        let thread = ec_thread_handle()
        roster.withLock { _ in unsafe worker.place.thread = thread }
    }

    /// Runs what is before the worker until there is nothing; false if it has gone to rest, to make room.
    private func runOwn(_ worker: PoolWorker) -> Bool {
        while true {
            // Relaxed, both: read again under the roster's lock.
            if worker.isToReport.load(ordering: .relaxed) { report(worker) }
            if vacancies.load(ordering: .relaxed) < 0, leave(worker) { return false }
            guard let work = next(worker) else { return true }
            run(work, worker)
        }
    }

    /// Looks for a job, runs it, and frees it before the worker goes on (law 10); false if it has
    /// gone to rest.
    private func runFound(_ worker: PoolWorker) -> Bool {
        guard let work = search(worker) else { return false }
        run(work, worker)
        return true
    }

    @inline(__always)
    private func run(_ work: Work, _ worker: PoolWorker) {
        worker.beginPiece()
        Batch.run(work)
        Frame.endJob()
    }

    /// The worker's next job: its own, as long as no other queue has any.
    @inline(__always)
    private func next(_ worker: PoolWorker) -> Work? {
        if !urgent.isEmpty || !patient.isEmpty { return nextByTime(worker) }
        let waiting = worker.ring.count
        if unsafe worker.granted > 0 {
            // Those that it took from outside when it had none of its own: nothing that comes later
            // is before them.
            unsafe worker.granted -= 1
        } else if !line.isEmpty, waiting > 0 || !spill.isEmpty || !rescued.isEmpty {
            return nextByTime(worker)
        }
        unsafe worker.isLone = waiting == 1
        if waiting > 1 { callIfShort() }
        // Not by `??`: a function that goes through a generic one comes back in a thunk.
        if let work = nextOwn(worker) { return work }
        return takeShare(worker)
    }

    /// The next of its own jobs, or of those that the workers' rings had no room for. In between
    /// one of those that lay behind a job that takes long.
    @inline(__always)
    private func nextOwn(_ worker: PoolWorker) -> Work? {
        if !rescued.isEmpty, unsafe worker.turns % 2 == 0 || worker.ring.count == 0 {
            unsafe worker.turns &+= 1
            if let work = rescued.take(into: worker.ring, sharedBy: .max) { return work }
        }
        if let work = worker.ring.take() {
            unsafe worker.turns &+= 1
            // What was added first to the overflow would come last, or never.
            if unsafe worker.turns % 128 == 0, !spill.isEmpty { bringOldest(worker) }
            return work
        }
        return spill.take(into: worker.ring)
    }

    /// Adds some of the oldest of the overflow to the worker's own.
    @inline(never)
    private func bringOldest(_ worker: PoolWorker) {
        if let work = spill.takeOldest(into: worker.ring) { _ = add(LooseWork(work), to: worker) }
    }

    /// Takes a share of what comes from outside, for a worker that has nothing of its own.
    private func takeShare(_ worker: PoolWorker) -> Work? {
        guard let work = line.take(into: worker.ring, sharedBy: width) else { return nil }
        unsafe worker.granted = worker.ring.count
        return work
    }

    /// The next job where several queues have some, each of which has its share of the worker's
    /// time.
    @inline(never)
    private func nextByTime(_ worker: PoolWorker) -> Work? {
        unsafe worker.isLone = false
        unsafe worker.granted = 0
        // Once more for each that is empty after all.
        for _ in 0..<4 {
            let waiting = TimeShares.Waiting(
                own: worker.ring.count > 0 || !spill.isEmpty || !rescued.isEmpty, outside: !line.isEmpty,
                urgent: !urgent.isEmpty, patient: !patient.isEmpty)
            guard waiting.own || waiting.outside || waiting.urgent || waiting.patient else { return nil }
            if worker.ring.count > 1 || waiting.outside { callIfShort() }
            let work =
                switch unsafe worker.shares.choose(
                    at: MonotonicClock.nanoseconds, begun: worker.pieces, from: waiting)
                {
                case .own: nextOwn(worker)
                case .outside: line.take(into: worker.ring, sharedBy: .max)
                case .urgent: urgent.take(into: worker.ring, sharedBy: .max)
                case .patient: patient.take(into: worker.ring, sharedBy: .max)
                }
            if let work { return work }
        }
        return nil
    }

    // MARK: - Searching

    /// Looks for work everywhere, once; nil if the worker has gone to rest.
    ///
    /// Not for a moment longer: a thread that turns in a circle keeps its processor from the one that it has just woken, and
    /// takes what comes from outside piece by piece, where a little later it would find many.
    private func search(_ worker: PoolWorker) -> Work? {
        unsafe worker.isLone = false
        unsafe worker.granted = 0
        repeat {
            if let work = find(worker) {
                found()
                return work
            }
        } while !rest(worker)
        return nil
    }

    private func find(_ worker: PoolWorker) -> Work? {
        if let work = worker.ring.take() { return work }
        if let work = urgent.take(into: worker.ring, sharedBy: .max) { return work }
        if let work = takeShare(worker) { return work }
        if let work = rescued.take(into: worker.ring, sharedBy: .max) { return work }
        if let work = spill.take(into: worker.ring) { return work }
        let count = count
        unsafe worker.turns &+= 1
        for step in 0..<count {
            let other = unsafe self.worker((Int(worker.turns) + step) % count)
            let waiting = other === worker ? 0 : other.ring.count
            if waiting == 0 || waiting == 1 && !isHeldUp(other) { continue }
            if let work = other.ring.steal(into: worker.ring, takesLast: waiting == 1) { return work }
        }
        return patient.take(into: worker.ring, sharedBy: .max)
    }

    /// A searcher has found something. If it was the only one, and there is more, the next one is called.
    private func found() {
        // In one order with what the others submit and then read, so that one of the two sees the other.
        let before = searching.subtract(1, ordering: .sequentiallyConsistent).oldValue
        if before == 1, vacancies.load(ordering: .relaxed) > 0, hasWork() { callWorker() }
    }

    // MARK: - Leaving

    /// A searcher naps, and gives its thread back (true) if nobody calls it meanwhile, or finds that there is work after all.
    private func rest(_ worker: PoolWorker) -> Bool {
        worker.beginNap()
        roster.withLock { roster in
            roster.end(worker)
            publish(&roster)
        }
        searching.subtract(1, ordering: .relaxed)
        // Either who submits sees that nobody looks any more, or this thread sees the work.
        atomicMemoryFence(ordering: .sequentiallyConsistent)
        if hasWork() {
            let goesOn = roster.withLock { roster in
                guard roster.takeBack(worker) else { return false }
                publish(&roster)
                searching.add(1, ordering: .relaxed)
                return true
            }
            if goesOn {
                worker.endNap()
                arrive(worker)
                return false
            }
        }
        tellOfTheEnd()
        guard worker.isCalledOutOfNap() else { return true }
        arrive(worker)
        return false
    }

    /// One of more workers than there may be lays down what is before it, and gives its thread back (true).
    @inline(never)
    private func leave(_ worker: PoolWorker) -> Bool {
        spill.append(contentsOf: worker.ring)
        let leaves = roster.withLock { roster in
            guard roster.vacancies < 0 else { return false }
            roster.end(worker)
            publish(&roster)
            return true
        }
        // Those who go on, or who have just gone to rest, may have looked before its work was there.
        atomicMemoryFence(ordering: .sequentiallyConsistent)
        if hasWork() { callIfShort() }
        guard leaves else { return false }
        tellOfTheEnd()
        return true
    }

    /// Calls `waiter` as soon as nothing runs and nothing waits.
    func whenDone(_ waiter: @escaping @Sendable () -> Void) {
        roster.withLock { $0.waiters.append(waiter) }
        for waiter in waitersOfTheEnd() { waiter() }
    }

    /// Tells of the end, if it has come; for workers, whose thread is not for what others do then: it may be called back.
    func tellOfTheEnd() {
        let waiters = waitersOfTheEnd()
        if waiters.isEmpty { return }
        OwnThreads.run(.init(name: name, isIndispensable: true) { for waiter in waiters { waiter() } })
    }

    private func waitersOfTheEnd() -> [@Sendable () -> Void] {
        if hasWork() { return [] }
        // Asked again: with nobody active, nothing is on its way from one place to another.
        return roster.withLock { $0.active == 0 && !hasWork() ? $0.takeWaiters() : [] }
    }
}
