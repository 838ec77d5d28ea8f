internal import CPlatform
internal import Synchronization

/// One thread that looks at all pools whose workers have threads, or had them at the look before.
///
/// A wait that the library knows of gives up its permit at once. The monitor finds the rest: jobs
/// that block in the system or wait for each other by other means, and jobs that are queued for too
/// long behind a long one. It looks every five milliseconds while any pool has queued jobs, and up
/// to eight times more rarely while none has. Where jobs are queued and no worker was awake, it
/// looks each millisecond for a while.
enum PoolMonitor {
    private struct State: ~Copyable {
        var pools: [PoolCore] = []
        var isRunning = false
    }

    private static let state = Guarded(State())
    private static let parkWord = ParkWord()

    /// The interval between two looks, in nanoseconds.
    private static var quickInterval: Int64 { 1_000_000 }
    private static var shortInterval: Int64 { 5_000_000 }
    private static var longInterval: Int64 { 40_000_000 }

    /// Adds a pool that has a worker with a thread; starts the monitor's if there is none.
    static func add(_ core: PoolCore) {
        // Acquiring and releasing, here and below: the monitor clears the flag and then reads the
        // accounting; a thread that sets the flag has changed the accounting before.
        if core.isMonitored.exchange(true, ordering: .acquiringAndReleasing) { return }
        let mustStart = state.withLock { state in
            state.pools.append(core)
            if state.isRunning { return false }
            state.isRunning = true
            return true
        }
        if mustStart {
            LibraryThreads.run(.init(name: "pool monitor", isIndispensable: true, body: run))
        } else {
            wake()
        }
    }

    /// Brings the next look forward.
    static func wake() { parkWord.unpark() }

    private static func run() {
        var interval = shortInterval
        var (starved, lastLook) = ([PoolCore](), MonotonicClock.nanoseconds)
        repeat {
            var isPressed = parkWord.park(until: MonotonicClock.nanoseconds + interval)
            // For the pools that starve: elsewhere a thread that computes may sleep for a while,
            // too.
            let now = MonotonicClock.nanoseconds
            let looksAtAll = starved.isEmpty || isPressed || now - lastLook >= shortInterval
            if looksAtAll { lastLook = now }
            let pools = looksAtAll ? state.withLock { $0.pools } : starved
            starved = []
            for core in pools {
                switch core.checkWorkers() {
                case .starved: starved.append(core)
                case .pressed: isPressed = true
                case .keepsUp: break
                case .asleep: forget(core)
                }
            }
            if !starved.isEmpty {
                interval = quickInterval
            } else {
                interval = isPressed ? shortInterval : min(2 * interval, longInterval)
            }
        } while !mayEnd()
    }

    private static func mayEnd() -> Bool {
        state.withLock { state in
            state.isRunning = !state.pools.isEmpty
            return !state.isRunning
        }
    }

    private static func forget(_ core: PoolCore) {
        state.withLock { state in state.pools.removeAll { $0 === core } }
        _ = core.isMonitored.exchange(false, ordering: .acquiringAndReleasing)
        // A worker may have started between the look and the exchange, and found the flag set.
        if core.isAwake, !core.isMonitored.exchange(true, ordering: .acquiringAndReleasing) {
            state.withLock { $0.pools.append(core) }
        }
    }
}

// What the monitor does with one pool. The lock of the accounting guards the records.
extension PoolCore {
    /// The state of a pool at one look of the monitor.
    enum Pressure {
        /// No worker has had a thread since the look before.
        case asleep
        /// No job or worker waits that the monitor could help.
        case keepsUp
        /// Jobs are queued, or workers wait for a permit.
        case pressed
        /// Jobs are queued, and a moment ago no worker computed.
        case starved
    }

    var isAwake: Bool { accounting.withLock { $0.active > 0 } }

    /// Finds stalled workers, starts others in their stead, and moves jobs from behind long ones.
    func checkWorkers() -> Pressure {
        let hasWork = hasWork()
        var findsOnlySleepers = false
        let pressure = accounting.withLock { accounting -> Pressure in
            // A pool that has a job now and then is not given up each time: that would wake the
            // monitor for each of these jobs.
            if accounting.hasSleptSinceLook() { return .asleep }
            guard accounting.active > 0 else { return .keepsUp }
            accounting.observationCount &+= 1
            findsOnlySleepers = countStalled(&accounting, hasWork)
            publish(&accounting)
            return hasWork || accounting.hasReturning ? .pressed : .keepsUp
        }
        // Relaxed: a hint to submitters, so that they bring the next look forward.
        isPolledSlowly.store(pressure != .pressed, ordering: .relaxed)
        guard hasWork, pressure == .pressed else { return pressure }
        freeStuckJobs()
        // One for each queued job at most. Relaxed: a hint, which is read again under the lock.
        let number = min(vacancies.load(ordering: .relaxed), pendingCount)
        var started = 0
        while started < number, startWorker() { started += 1 }
        let isStarved = accounting.withLock { accounting in
            accounting.isStarved(findsOnlySleepers: findsOnlySleepers && started > 0)
        }
        return isStarved ? .starved : .pressed
    }

    /// Discounts the stalled workers, and counts those again that make progress. Returns whether a
    /// worker has stalled and none was seen awake.
    private func countStalled(_ accounting: inout WorkerAccounting, _ hasWork: Bool) -> Bool {
        var (hasStalled, hasProgress) = (false, false)
        let isWaitedFor = hasWork && accounting.active < limit || accounting.hasReturning
        // Stalled workers, of which there may be hundreds, are checked at every fourth look only,
        // and even while no job waits, so that a later job does not start beside them.
        let checksStalled = accounting.observationCount & 3 == 0
        guard isWaitedFor || checksStalled else { return false }
        for index in 0..<count {
            let worker = worker(index)
            guard unsafe worker.record.isActive else { continue }
            if unsafe worker.record.isCounted {
                guard isWaitedFor else { continue }
                if isStalled(worker, accounting.observationCount) {
                    accounting.markStalled(worker)
                    hasStalled = true
                } else if unsafe worker.record.thread >= 0 {
                    // Neither asleep nor on its way to its first job.
                    if unsafe worker.record.lastObservation.sleepScore == 0 { hasProgress = true }
                }
            } else if checksStalled, hasResumed(worker) {
                accounting.markRunning(worker)
            }
        }
        return hasStalled && !hasProgress
    }

    /// Whether a worker has been asleep in one job at three looks.
    ///
    /// A thread that computes may be asleep at a look: in a lock, or until a page of memory
    /// arrives. So its thread must have hardly used a processor between the looks.
    private func isStalled(_ worker: PoolWorker, _ number: UInt32) -> Bool {
        let before = unsafe worker.record.lastObservation
        var observation = PoolWorker.Observation(of: worker, number: number)
        let isSame = before.begun == observation.begun && before.number == number &- 1
        // A first look has nothing to compare, so a worker that is asleep then is checked again.
        let wasQuiet = isSame ? observation.wasQuiet(since: before) : nil
        if wasQuiet != false {
            let score = isSame ? before.sleepScore : 0
            switch unsafe ec_thread_activity(worker.record.thread) {
            case ec_activity_asleep: observation.sleepScore = score + PoolWorker.SleepScore.asleep
            case ec_activity_awake: observation.sleepScore = 0
            // The kernel may take long to bring a page to a thread that computes.
            case ec_activity_paging: observation.sleepScore = score + PoolWorker.SleepScore.quiet
            // Unknown: no file could be opened. A thread quiet at twelve looks most likely sleeps.
            default:
                observation.sleepScore = wasQuiet == true ? score + PoolWorker.SleepScore.quiet : 0
            }
        }
        unsafe worker.record.lastObservation = observation
        guard observation.sleepScore >= PoolWorker.SleepScore.stalled else { return false }
        // Relaxed: the worker reads it after each job, and then the accounting under its lock.
        worker.isToReport.store(true, ordering: .relaxed)
        return true
    }

    /// Whether a worker that was found stalled, and is not in a wait of the library's, is awake.
    ///
    /// Among many workers each may get little processor time, so the state of the thread decides. A
    /// thread that has used no time has not been awake, which is cheaper to find out.
    private func hasResumed(_ worker: PoolWorker) -> Bool {
        guard unsafe worker.record.isStalled else { return false }
        let before = unsafe worker.record.lastObservation
        let observation = PoolWorker.Observation(of: worker, number: before.number)
        unsafe worker.record.lastObservation = observation
        if observation.used >= 0 && observation.used == before.used { return false }
        return switch unsafe ec_thread_activity(worker.record.thread) {
        case ec_activity_asleep, ec_activity_paging: false
        case ec_activity_awake: true
        default: observation.wasQuiet(since: before) == false
        }
    }

    /// Counts a worker again that was found stalled, and has ended its job or returned from a wait.
    @inline(never)
    func report(_ worker: PoolWorker) {
        worker.isToReport.store(false, ordering: .relaxed)
        accounting.withLock { accounting in
            if unsafe worker.record.isStalled { accounting.markRunning(worker) }
            publish(&accounting)
        }
    }

    /// Moves to `rescued` the jobs behind one that lasts a look, and the oldest of the overflow.
    private func freeStuckJobs() {
        var hasMoved = false
        for index in 0..<count {
            let worker = worker(index)
            // Only the monitor reads and writes `begunAtLook`.
            let begun = worker.begunCount
            defer { unsafe worker.begunAtLook = begun }
            guard unsafe worker.begunAtLook == begun, worker.ring.count > 0 else { continue }
            // Exchanges, since the steps between them must not move past either: see `hasWork`.
            _ = isMoving.exchange(true, ordering: .acquiringAndReleasing)
            for _ in 0..<WorkRing.capacity {
                guard let work = worker.ring.takeFirst() else { break }
                _ = rescued.append(UnmanagedWork(work), isAccepted: true)
            }
            _ = isMoving.exchange(false, ordering: .acquiringAndReleasing)
            hasMoved = true
        }
        // The last worker may have gone idle meanwhile, and taken `isMoving` for a job.
        if hasMoved { notifyIfDone() }
        overflow.moveOldest(to: rescued, olderThan: MonotonicClock.nanoseconds - 100_000_000)
    }
}
