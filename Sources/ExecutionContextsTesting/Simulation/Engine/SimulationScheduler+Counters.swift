internal import CSimulation
internal import ExecutionContexts

// The semaphores and groups of Dispatch.
extension SimulationScheduler {
    /// The program has made a semaphore with a value, or a group.
    func didMake(_ counter: SystemCounter, _ value: Int) {
        let name = names.unique(Self.name(counter))
        names.add(counter.word, unique: name)
        didMake(counter.word, name)
        counters.make(counter, name, value: value)
        SharedCounters.add(counter.word, name, hosts)
    }

    /// The address is that of another object now, which the schedule has not made.
    func forget(_ counter: SystemCounter) {
        counters.forget(counter.word)
        names.forget(counter.word)
        objects.forget(counter.word)
        memory?.make(counter.word)
        log?.forget(counter.word)
    }

    private static func name(_ counter: SystemCounter) -> String {
        counter.isGroup ? "a group" : "a semaphore"
    }

    /// What it is called in a text.
    func name(of counter: SystemCounter) -> String {
        counters[counter].name ?? "\(Self.name(counter)) from outside"
    }

    // MARK: Signals, entries and leaves

    func willUse(_ counter: SystemCounter, by thread: SimulatedThread) {
        point(thread, for: Intent(.writes, counter.word))
        noteUse(counter, counter.isGroup ? ecs_enter : ecs_signal)
    }

    /// Tells another search, if it has made what a thread of this one uses.
    private func noteUse(_ counter: SystemCounter, _ use: ecs_use) {
        if counters[counter].name == nil {
            counters.keep(counter)
            SharedCounters.willUse(counter.word, use, besides: hosts)
        }
    }

    /// A thread has used it; returns whether another thread waited for that.
    func didUse(_ counter: SystemCounter, _ use: ecs_use, by thread: SimulatedThread) -> Bool {
        switch use {
        case ecs_signal: return didSignal(counter, by: thread)
        case ecs_enter: didEnter(counter, by: thread)
        default: didLeave(counter, by: thread)
        }
        return false
    }

    private func didSignal(_ semaphore: SystemCounter, by thread: SimulatedThread) -> Bool {
        let before = counters[semaphore].permits
        counters[semaphore].permits = before.map { $0 + 1 }
        counters[semaphore].leave(thread)
        trace?.add(thread, .signals(name(of: semaphore)))
        // Where there was no permit, no later wait could have come first, and this signal and one
        // before it have a wait between them. Everything else may come in either order.
        log?.add(before == 0 ? .releases : .writes, semaphore.word)
        pass(.releases, semaphore.word, by: thread)
        return before.map { waiters(of: semaphore).count > $0 } ?? false
    }

    private func didEnter(_ group: SystemCounter, by thread: SimulatedThread) {
        counters[group].enter(thread)
        trace?.add(thread, .enters(name(of: group)))
        log?.add(.acquires, group.word)
        log?.add(.writes, group.word)
    }

    private func didLeave(_ group: SystemCounter, by thread: SimulatedThread) {
        counters[group].leave(thread)
        trace?.add(thread, .leaves(name(of: group)))
        // In any order with other leaves.
        log?.add(.releases, group.word)
        pass(.releases, group.word, by: thread)
        // Those that wait now go on, even if a thread enters it before they do.
        let waiters = waiters(of: group)
        if !waiters.isEmpty, group.take() { for thread in waiters { thread.isSignalled = true } }
        dispatchQueues?.submitNotifications(of: group)
    }

    /// The threads that wait for it.
    private func waiters(of counter: SystemCounter) -> [SimulatedThread] {
        threads.filter { thread in
            guard lockWaiters & 1 << UInt64(thread.id) != 0, case .counter(let other) = thread.wait
            else { return false }
            return other.isSame(as: counter)
        }
    }

    // MARK: Waits

    /// Whether a thread that waits need not wait longer in the simulation.
    func canTake(_ counter: SystemCounter, _ thread: SimulatedThread) -> Bool {
        if counter.isGroup {
            return thread.isSignalled || isOnlyOutside(counter) || counter.take()
        }
        return counters[counter].permits != 0 || isOnlyOutside(counter)
    }

    /// Waits until the thread can take a permit of a semaphore, or a group is empty, or the limit
    /// has passed.
    func wait(_ thread: SimulatedThread, for counter: SystemCounter, until limit: UInt64) -> ecs_end
    {
        // Before others run, who let time pass.
        let deadline = dispatchTimes.deadline(of: limit, at: now)
        if phase == .checking {
            if take(counter, by: thread, deadline) { return ecs_free }
            if now >= deadline { return ecs_late }
            refuseToWait(thread)
        }
        noteUse(counter, ecs_signal)
        thread.isSignalled = false
        var pauses =
            (phase == .running || phase == .unwinding) && thread.undivided == 0
            && !ecs_is_making_static()
        while true {
            if pauses { pause(thread, for: counter, deadline) }
            if take(counter, by: thread, deadline) { return ecs_free }
            guard now < deadline else {
                log?.add(.writes, counter.word)
                trace?.add(thread, .givesUp(name(of: counter)))
                return ecs_late
            }
            if isOnlyOutside(counter) {
                if counters[counter].name != nil { failForJobs(in: counter, thread) }
                if failure != nil { giveUp(thread) }
                return ecs_outside
            }
            pauses = true
        }
    }

    /// Lets other threads run, and this one when it can take what it waits for.
    private func pause(
        _ thread: SimulatedThread, for counter: SystemCounter, _ deadline: Int64
    ) {
        step(thread)
        (thread.intent, thread.wait) = (Intent(.writes, counter.word), .counter(counter))
        (thread.deadline, thread.waitNumber) = (deadline, steps)
        let (bit, canGoOn) = (1 << UInt64(thread.id) as UInt64, canTake(counter, thread))
        if !canGoOn {
            trace?.add(thread, .waits(name(of: counter)))
            log?.refusePermit(thread.id, of: counter.word)
        }
        lockWaiters |= bit
        if deadline != .max, now < deadline { timed |= bit }
        pass(from: thread, choose(thread, stays: canGoOn || now >= deadline))
        lockWaiters &= ~bit
        timed &= ~bit
        (thread.intent, thread.wait) = (nil, .nothing)
    }

    /// Takes what a thread waits for, if it can.
    private func take(
        _ counter: SystemCounter, by thread: SimulatedThread, _ deadline: Int64
    ) -> Bool {
        guard counter.isGroup && thread.isSignalled || counter.take() else {
            if !counter.isGroup { counters[counter].permits = 0 }
            return false
        }
        didTake(counter, by: thread)
        // Earlier, a try could have failed.
        if deadline != .max { log?.add(.writes, counter.word) }
        return true
    }

    private func didTake(_ counter: SystemCounter, by thread: SimulatedThread) {
        if !counter.isGroup {
            // One that a thread outside has given was not counted.
            counters[counter].permits = counters[counter].permits.map { max($0 - 1, 0) }
            counters[counter].enter(thread)
        }
        trace?.add(thread, .takes(name(of: counter)))
        log?.add(.acquires, counter.word)
        pass(.acquires, counter.word, by: thread)
    }

    /// Whether no simulated thread is known that could end a wait: for a semaphore that the
    /// schedule has not made none has a permit, and in a group none is.
    private func isOnlyOutside(_ counter: SystemCounter) -> Bool {
        let state = counters[counter]
        return (state.isGroup || state.name == nil) && state.taken <= 0
    }

    /// No simulated thread is in a group that is not empty: `async(group:)` has entered it.
    private func failForJobs(in group: SystemCounter, _ thread: SimulatedThread) {
        fail(
            .foreign,
            "'\(thread.name)' waits for '\(name(of: group))', in which threads of the system are: they run "
                + "outside of the simulation. Take contexts of the simulation there (law 33).")
    }

    func didWaitOutside(
        _ thread: SimulatedThread, for counter: SystemCounter, until limit: UInt64, wasTaken: Bool
    ) {
        if wasTaken {
            counters[counter].fromOutside += 1
            return didTake(counter, by: thread)
        }
        // As long by both clocks.
        now = max(now, min(dispatchTimes.deadline(of: limit, at: now), settings.horizon))
        trace?.add(thread, .givesUp(name(of: counter)))
    }

    /// In the search of all orders: those that wait for a permit could have taken one that another
    /// thread has, and those that wait for a group could have come before it was entered.
    func refusePermits() {
        guard let log else { return }
        var rest = lockWaiters
        while rest != 0 {
            let thread = threads[rest.trailingZeroBitCount]
            rest &= rest - 1
            guard case .counter(let counter) = thread.wait, !canTake(counter, thread) else {
                continue
            }
            log.refusePermit(thread.id, of: counter.word)
        }
    }
}
