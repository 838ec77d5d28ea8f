internal import CPlatform
internal import Synchronization

// What the monitor does with one pool.
extension PoolCore {
    /// What a look has found.
    enum Pressure {
        /// No worker has a thread.
        case asleep
        /// Nothing waits that a look could help.
        case busy
        /// Jobs wait, or workers wait for a place.
        case pressed
    }

    var isAwake: Bool { roster.withLock { $0.active > 0 } }

    /// Finds out which workers are stalled, calls others in their place, and moves jobs that wait
    /// behind long ones.
    func lookAfterWorkers() -> Pressure {
        let hasWork = hasWork()
        let pressure = roster.withLock { roster -> Pressure in
            guard roster.active > 0 else { return .asleep }
            roster.looks &+= 1
            countStalled(&roster, hasWork)
            publish(&roster)
            return hasWork || roster.hasReturning ? .pressed : .busy
        }
        // Relaxed: a hint for those who submit, so that the next look comes soon.
        isUnhurried.store(pressure != .pressed, ordering: .relaxed)
        guard hasWork, pressure == .pressed else { return pressure }
        freeStuckJobs()
        // Relaxed: a hint, which is read again under the lock.
        for _ in 0..<max(vacancies.load(ordering: .relaxed), 0) where !callWorker() { break }
        roster.withLock { roster in
            // For this look only: who has slept may go on at any time.
            roster.extra = 0
            publish(&roster)
        }
        return pressure
    }

    /// Discounts the workers that are stalled, and counts those again that go on. The roster is
    /// locked.
    private func countStalled(_ roster: inout PoolRoster, _ hasWork: Bool) {
        var (stalled, isGettingOn) = (0, false)
        let isWaitedFor = hasWork && roster.active < limit || roster.hasReturning
        // Those that were stalled are asked more rarely: there may be hundreds. But always, so that
        // what is submitted later does not begin beside them.
        let asksStalled = roster.looks & 3 == 0
        guard isWaitedFor || asksStalled else { return }
        for index in 0..<count {
            let worker = worker(index)
            guard unsafe worker.place.isActive else { continue }
            if unsafe worker.place.isCounted {
                if isWaitedFor, isStalled(worker, roster.looks) { roster.replace(worker) }
            } else if asksStalled, goesOn(worker) {
                roster.count(worker)
            }
            if unsafe worker.place.isCounted { isGettingOn = true } else { stalled += 1 }
        }
        // Where all are stalled, those that come next will be as well, most likely: as many again
        // at a time.
        roster.extra = hasWork && !isGettingOn ? max(stalled - width, 0) : 0
    }

    /// Whether a worker has been asleep in one job for the time of three looks, as far as these
    /// show. The roster is locked.
    ///
    /// A thread that computes may be asleep at a look: in a lock, or until a page of memory is
    /// there. So it is said to be stalled only if it has hardly used a processor in between.
    private func isStalled(_ worker: PoolWorker, _ look: UInt32) -> Bool {
        let before = unsafe worker.place.seen
        var seen = PoolWorker.Look(of: worker, number: look)
        let isSame = before.begun == seen.begun && before.look == look &- 1
        // A first look has nothing to compare: a worker that is asleep then is asked again.
        let wasQuiet = isSame ? seen.wasQuiet(since: before) : nil
        if wasQuiet != false {
            let signs = isSame ? before.signs : 0
            switch unsafe ec_thread_activity(worker.place.thread) {
            case ec_activity_asleep: seen.signs = signs + 4
            case ec_activity_awake: seen.signs = 0
            // The kernel may take long to bring a page to a thread that computes.
            case ec_activity_paging: seen.signs = signs + 1
            // No file could be opened. A thread that is quiet at a dozen looks sleeps, most likely.
            default: seen.signs = wasQuiet == true ? signs + 1 : 0
            }
        }
        unsafe worker.place.seen = seen
        guard seen.signs >= 12 else { return false }
        // Relaxed: the worker reads it after each job, and asks the roster.
        worker.isToReport.store(true, ordering: .relaxed)
        return true
    }

    /// Whether a worker that was found stalled, and does not wait by the library's means, is awake
    /// again. The roster is locked.
    ///
    /// Where many are, each may get little of the processors, so it is its state that counts. One
    /// that has used no time has not been awake, and costs no more than this question.
    private func goesOn(_ worker: PoolWorker) -> Bool {
        // Relaxed: written under this lock, and by the worker when it reports.
        guard unsafe worker.place.waits == 0 && !worker.place.isReturning,
            worker.isToReport.load(ordering: .relaxed)
        else { return false }
        let before = unsafe worker.place.seen
        let seen = PoolWorker.Look(of: worker, number: before.look)
        unsafe worker.place.seen = seen
        if seen.used >= 0 && seen.used == before.used { return false }
        return switch unsafe ec_thread_activity(worker.place.thread) {
        case ec_activity_asleep, ec_activity_paging: false
        case ec_activity_awake: true
        default: seen.wasQuiet(since: before) == false
        }
    }

    /// A worker that was found stalled has ended its job, or has come back from a wait.
    @inline(never)
    func report(_ worker: PoolWorker) {
        worker.isToReport.store(false, ordering: .relaxed)
        roster.withLock { roster in
            if unsafe worker.place.waits == 0 && !worker.place.isReturning { roster.count(worker) }
            publish(&roster)
        }
    }

    /// Moves the jobs that wait behind one that has lasted for a look, and the oldest of the
    /// overflow, to where every worker takes from.
    private func freeStuckJobs() {
        var hasMoved = false
        for index in 0..<count {
            let worker = worker(index)
            // Only the monitor reads and writes what it has seen here.
            let begun = worker.pieces
            defer { unsafe worker.begunAtLook = begun }
            guard unsafe worker.begunAtLook == begun, worker.ring.count > 0 else { continue }
            // Exchanges, which the steps between them do not pass: see `hasWork`.
            _ = isMoving.exchange(true, ordering: .acquiringAndReleasing)
            for _ in 0..<WorkRing.capacity {
                guard let work = worker.ring.takeFirst() else { break }
                _ = rescued.append(LooseWork(work), isAccepted: true)
            }
            _ = isMoving.exchange(false, ordering: .acquiringAndReleasing)
            hasMoved = true
        }
        // The last worker may have gone to rest meanwhile, and taken the mark for a job.
        if hasMoved { tellOfTheEnd() }
        spill.moveOldest(to: rescued, olderThan: MonotonicClock.nanoseconds - 100_000_000)
    }
}
