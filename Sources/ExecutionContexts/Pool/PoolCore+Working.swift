internal import CPlatform
internal import Dispatch
internal import Synchronization

// What a worker does while it has a thread.
extension PoolCore {
    /// Runs what there is; called on the worker's thread, once for each call of it. It comes as one that searches.
    func work(_ worker: PoolWorker) {
        arrive(worker)
        worker.occupy {
            unsafe Frame.enter(Frame.owner(self)) {
                while let work = search(worker) {
                    run(work, worker)
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

    @inline(__always)
    private func run(_ work: Work, _ worker: PoolWorker) {
        worker.beginPiece()
        Batch.run(work)
    }

    /// The worker's next piece: what is urgent, then its own, then what comes from outside.
    @inline(__always)
    private func next(_ worker: PoolWorker) -> Work? {
        unsafe worker.turns &+= 1
        // Now and then those come first who would come last, or they might never come.
        if unsafe worker.turns % 64 == 0, let work = takeFromOutside(worker) { return work }
        if !urgent.isEmpty, let work = urgent.take(into: worker.ring, sharedBy: .max) { return work }
        let waiting = worker.ring.count
        unsafe worker.isLone = waiting == 1
        if waiting > 1 { callIfShort() }
        if let work = worker.ring.take() { return work }
        if let work = spill.take(into: worker.ring) { return work }
        return line.take(into: worker.ring, sharedBy: width)
    }

    @inline(never)
    private func takeFromOutside(_ worker: PoolWorker) -> Work? {
        unsafe worker.isLone = false
        // Not by `??`: a function that goes through a generic one comes back in a thunk.
        if unsafe worker.turns % 256 == 0, let work = patient.take(into: worker.ring, sharedBy: .max) {
            return work
        }
        if unsafe worker.turns % 128 == 0, let work = spill.takeOldest(into: worker.ring) { return work }
        if unsafe worker.turns % 256 == 64, let work = takeFromHeldUp(worker) { return work }
        return line.take(into: worker.ring, sharedBy: width)
    }

    /// What waits behind a piece that takes long: who has work of its own would never come to steal it.
    private func takeFromHeldUp(_ worker: PoolWorker) -> Work? {
        for index in 0..<count {
            let other = self.worker(index)
            if other === worker || other.ring.count == 0 || !isHeldUp(other) { continue }
            if let work = other.ring.takeFirst() { return work }
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
        if let work = line.take(into: worker.ring, sharedBy: width) { return work }
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
            publish(roster)
        }
        searching.subtract(1, ordering: .relaxed)
        // Either who submits sees that nobody looks any more, or this thread sees the work.
        atomicMemoryFence(ordering: .sequentiallyConsistent)
        if hasWork() {
            let goesOn = roster.withLock { roster in
                guard roster.takeBack(worker) else { return false }
                publish(roster)
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
            publish(roster)
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
    private func tellOfTheEnd() {
        let waiters = waitersOfTheEnd()
        if waiters.isEmpty { return }
        DispatchQueue.global().async { for waiter in waiters { waiter() } }
    }

    private func waitersOfTheEnd() -> [@Sendable () -> Void] {
        if hasWork() { return [] }
        // Asked again: with nobody active, nothing is on its way from one place to another.
        return roster.withLock { $0.active == 0 && !hasWork() ? $0.takeWaiters() : [] }
    }
}
