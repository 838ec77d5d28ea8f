internal import CSimulation
internal import ExecutionContexts

// The primitives' operations, as the scheduler sees them.
extension SimulationScheduler {
    func willTouch(_ word: Word, by thread: SimulatedThread) {
        thread.refused = nil
        point(thread, for: Intent(.writes, word))
        let isHeld = thread.held.contains(word)
        if isHeld { log?.add(.releases, word) } else { log?.add(.writes, .library) }
        pass(isHeld ? .releases : .writes, word, by: thread)
        if !thread.held.isEmpty, let index = thread.held.lastIndex(of: word) {
            thread.held.remove(at: index)
            trace?.add(thread, .leaves(names.name(of: word) ?? "a lock"))
        } else if let trace, let name = names.name(of: word) {
            trace.add(thread, .touches(name))
        }
    }

    func willRead(_ word: Word, by thread: SimulatedThread) {
        thread.refused = nil
        point(thread, for: Intent(.reads, word))
        log?.add(.reads, word)
        pass(.reads, word, by: thread)
        if let trace, let name = names.name(of: word) { trace.add(thread, .touches(name)) }
    }

    func willStep(_ thread: SimulatedThread) {
        thread.refused = nil
        point(thread)
        log?.add(.writes, .library)
        memory?.use(.writes, nil, by: thread.id)
    }

    func willEnter(_ owner: Word, by thread: SimulatedThread, waits: Bool) {
        noteOrder(owner, thread)
        if waits { thread.entering = .own(owner) }
        point(thread, for: Intent(.writes, owner))
        thread.entering = nil
        pass(.acquires, owner, by: thread)
        // No other thread runs between this check and the operation that follows.
        if owner.holder == 0 {
            thread.held.append(owner)
            thread.refused = nil
            thread.isQueued = false
            log?.add(.acquires, owner)
            // At an earlier point, a try could have found it taken.
            if !waits { log?.add(.writes, owner) }
        } else {
            if waits { thread.isQueued = true }
            log?.add(.writes, owner)
            thread.refused = owner
        }
        guard let trace else { return }
        let name = names.name(of: owner) ?? "a lock"
        trace.add(thread, thread.refused == nil ? .enters(name) : .isRefused(name))
    }

    func park(_ thread: SimulatedThread, until deadline: Int64) -> Bool {
        if phase == .checking { refuseToWait(thread) }
        step(thread)
        log?.add(.writes, .parker(of: thread.id))
        if !thread.hasToken {
            thread.wasWoken = false
            thread.deadline = deadline
            thread.wait = thread.awaited ?? thread.refused.map { .lock($0) } ?? .nothing
            trace?.add(thread, .sleeps)
            suspend(thread, .asleep)
            if deadline != .max { timed |= 1 << UInt64(thread.id) }
            pass(from: thread, choose(thread, stays: false))
            // The owner handed the lock over while this thread was parked.
            if let refused = thread.refused, refused.holder == thread.number {
                thread.held.append(refused)
                thread.isQueued = false
                log?.add(.acquires, refused)
                pass(.acquires, refused, by: thread)
            }
            thread.wait = .nothing
        }
        memory?.didPark(thread.id)
        thread.awaited = nil
        let wasWoken = thread.hasToken || thread.wasWoken
        thread.hasToken = false
        return wasWoken
    }

    /// The candidates, except those that wait for a taken lock.
    func withoutLockWaiters(_ candidates: UInt64) -> UInt64 {
        var (allowed, rest) = (candidates, candidates & lockWaiters)
        while rest != 0 {
            let thread = threads[rest.trailingZeroBitCount]
            rest &= rest - 1
            let canGoOn =
                switch thread.wait {
                case .systemLock(let lock): isOver(lock, thread)
                case .counter(let counter): canTake(counter, thread)
                case .turn: steps != thread.waitNumber
                case .change: hasChange(for: thread)
                default: true
                }
            if !canGoOn, now < thread.deadline { allowed &= ~(1 << UInt64(thread.id)) }
        }
        return allowed
    }

    /// Runs other threads until one of them has made a step: the caller polls.
    func giveTurn(_ thread: SimulatedThread) {
        guard phase == .running || phase == .unwinding, thread.undivided == 0,
            !ecs_is_making_static()
        else { return }
        step(thread)
        (thread.wait, thread.waitNumber, thread.deadline) = (.turn, steps, .max)
        lockWaiters |= 1 << UInt64(thread.id)
        pass(from: thread, choose(thread, stays: false))
        lockWaiters &= ~(1 << UInt64(thread.id))
        thread.wait = .nothing
    }

    /// Runs other threads until one of them has changed an atomic that the caller's loop loads.
    func waitForChange(_ thread: SimulatedThread, for intent: Intent) {
        step(thread)
        thread.intent = intent
        (thread.wait, thread.waitNumber, thread.deadline) = (.change, steps, .max)
        (thread.isChanged, thread.waitTime) = (false, now)
        lockWaiters |= 1 << UInt64(thread.id)
        pass(from: thread, choose(thread, stays: false))
        lockWaiters &= ~(1 << UInt64(thread.id))
        (thread.wait, thread.intent, thread.polls) = (.nothing, nil, [])
    }

    /// Lets threads poll where no other one can run; returns whether there are any.
    func letPollersContinue() -> Bool {
        let waiters = threads.filter { lockWaiters & 1 << UInt64($0.id) != 0 }
        let pollers = waiters.filter { if case .turn = $0.wait { true } else { false } }
        for thread in pollers { thread.waitNumber = -1 }
        if !pollers.isEmpty { return true }
        let loops = waiters.filter { if case .change = $0.wait { true } else { false } }
        for thread in loops {
            // Perhaps its loop ends by itself, and it could have gone on before others have.
            if steps != thread.waitNumber { chooser.orders?.isCut = true }
            thread.isChanged = true
        }
        return !loops.isEmpty
    }

    /// Suspends the thread for a time; nothing wakes it earlier.
    func pause(_ thread: SimulatedThread, for nanoseconds: Int64) {
        if phase == .checking { refuseToWait(thread) }
        step(thread)
        thread.deadline =
            ContextInstant(nanoseconds: now)
            .advanced(by: .nanoseconds(nanoseconds)).nanoseconds
        trace?.add(thread, .sleeps)
        suspend(thread, .waiting)
        timed |= 1 << UInt64(thread.id)
        pass(from: thread, choose(thread, stays: false))
    }

    /// The thread to wake, after a scheduling point; nil if it is not part of this schedule.
    func willUnpark(_ number: UInt32, by thread: SimulatedThread) -> SimulatedThread? {
        point(thread)
        let sleeper = threads.first { $0.number == number }
        if sleeper == nil && !hosts.isHost(number) {
            fail(
                .foreign,
                "'\(thread.name)' wakes a thread that the simulation did not start. Start threads with spawn, and "
                    + "let no outside thread wait for the simulation.")
        }
        return sleeper
    }

    func unpark(_ sleeper: SimulatedThread) {
        log?.add(.writes, .parker(of: sleeper.id))
        if let memory, let caller { memory.unpark(sleeper.id, by: caller.id) }
        if sleeper.state == .asleep {
            sleeper.wasWoken = true
            wake(sleeper)
        } else {
            sleeper.hasToken = true
        }
    }

    func refuseToWait(_ thread: SimulatedThread) -> Never {
        fail(
            .misuse,
            "An invariant waits for a lock or a context. No other thread runs while it is checked, so read "
                + "without a lock, or check at the end, with 'finally'.")
        giveUp(thread)
    }

    /// Suspends the thread until `isOver` returns true; other threads call `wake` to make it check
    /// again.
    func block(_ thread: SimulatedThread, on queue: SimulatedJobQueue, until isOver: () -> Bool) {
        if phase == .checking { refuseToWait(thread) }
        while !isOver() {
            thread.operations += 1
            thread.wait = .context(queue)
            trace?.add(thread, .waits(queue.name))
            suspend(thread, .waiting)
            pass(from: thread, choose(thread, stays: false))
        }
        thread.wait = .nothing
    }

    /// Advances time where all running tasks only yield: they wait for the end of a sleep.
    ///
    /// So may a task that does something between its yields, as a loop that asks an actor. A loop
    /// that works does the same, so this is assumed only where the threads run round-robin.
    func noteYield(_ thread: SimulatedThread) {
        // The end of a yield is a separate job.
        guard thread.isOfTasks, thread.task != nil || thread.hasYielded else { return }
        if isFair, thread.hasYielded, let task = thread.task,
            task.yields(since: stepOfTime) >= patienceForPolls,
            phase == .running, advance()
        {
            patienceForPolls = Self.laterYields
            chooser.orders?.isCut = true
        }
        if !thread.hasYielded { leap = Self.firstLeap }
        yields = thread.hasYielded ? yields + 1 : 0
        // Many tasks that each yield once are not waiting.
        guard yields >= max(Self.mostYields, 8 * tasks.livingCount), phase == .running else {
            return
        }
        yields = 0
        chooser.orders?.isCut = true
        if advance() { return }
        // A program that polls a clock waits for a time that only the program knows.
        now = max(now, min(now + leap, settings.horizon))
        leap = min(leap * 4, Self.longestLeap)
    }

    /// How often tasks yield until time advances; and after one has been seen to wait so.
    static let mostYields = 500
    private static let laterYields = 50
    private static let firstLeap: Int64 = 1_000_000
    private static let longestLeap: Int64 = 3_600_000_000_000

    /// Advances the clock to the next deadline, and fires and wakes what is due then; false if
    /// nothing is ever due.
    func advance() -> Bool {
        var next = clock.nextDeadline ?? .max
        forEachSleeper { next = min(next, $0.deadline) }
        guard next != .max, phase != .running || next <= settings.horizon else { return false }
        if let trace, next > now { trace.timeIs(next) }
        now = max(now, next)
        stepOfTime = steps
        log?.passTime()
        memory?.synchronizeAll()
        hosts.order?.settle()
        forEachSleeper { if $0.deadline <= now { wake($0) } }
        clock.fireDue(self)
        return true
    }

    private func forEachSleeper(_ body: (SimulatedThread) -> Void) {
        var rest = timed
        while rest != 0 {
            body(threads[rest.trailingZeroBitCount])
            rest &= rest - 1
        }
    }
}
