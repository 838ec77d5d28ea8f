internal import CSimulation
internal import ExecutionContexts

// Dispatch semaphores and groups.
extension SimulationScheduler {
    /// Records a semaphore, with its value, or a group that the program created.
    func didMake(_ counter: SystemCounter, _ value: Int) {
        let name = names.unique(Self.name(counter))
        names.add(counter.word, unique: name)
        didMake(counter.word, name)
        counters.make(counter, name, value: value)
        SharedCounters.add(counter.word, name, hosts)
    }

    /// Another object, which the schedule did not create, now has the address.
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

    /// Its name in messages.
    func name(of counter: SystemCounter) -> String {
        counters[counter].name ?? "\(Self.name(counter)) from outside"
    }

    // MARK: Signals, entries and leaves

    func willUse(_ counter: SystemCounter, by thread: SimulatedThread) {
        point(thread, for: Intent(.writes, counter.word))
        noteUse(counter, counter.isGroup ? ecs_enter : ecs_signal)
    }

    /// Notifies another search, if it created the object that a thread of this one uses.
    private func noteUse(_ counter: SystemCounter, _ use: ecs_use) {
        if counters[counter].name == nil {
            counters.keep(counter)
            SharedCounters.willUse(counter.word, use, besides: hosts)
        }
    }

    /// Records a use; returns whether another thread was waiting for it.
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
        // Where there was no permit, no later wait could have preceded this signal, and a wait lies
        // between it and the previous signal. Everything else may happen in either order.
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
        // In either order with other leaves.
        log?.add(.releases, group.word)
        pass(.releases, group.word, by: thread)
        // Present waiters continue, even if a thread enters the group before they do.
        let waiters = waiters(of: group)
        if !waiters.isEmpty, group.take() { for thread in waiters { thread.isSignalled = true } }
        if dispatchQueues?.submitNotifications(of: group) == true { point(thread, creates: true) }
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

    /// Whether a waiting thread can stop waiting in the simulation.
    func canTake(_ counter: SystemCounter, _ thread: SimulatedThread) -> Bool {
        if counter.isGroup {
            return thread.isSignalled || isOnlyOutside(counter) || counter.take()
        }
        return counters[counter].permits != 0 || thread.waitsOutside && isOnlyOutside(counter)
    }

    /// Whether no other thread can run now, or in time before the deadline.
    private func isAlone(_ thread: SimulatedThread, _ deadline: Int64) -> Bool {
        let others = withoutLockWaiters(tasks.allowed(ready)) & ~(1 << UInt64(thread.id))
        return others == 0 && (deadline != .max || timed == 0 && clock.nextDeadline == nil)
    }

    /// Lets threads wait outside of the simulation, for semaphores that nothing in it will signal:
    /// those with a time limit, or those without. Returns whether there are any.
    func letWaitOutside(withLimit: Bool) -> Bool {
        var found = false
        for thread in threads where lockWaiters & 1 << UInt64(thread.id) != 0 {
            guard case .counter(let counter) = thread.wait, !counter.isGroup,
                isOnlyOutside(counter), !thread.waitsOutside,
                (thread.deadline != .max) == withLimit
            else { continue }
            thread.waitsOutside = true
            found = true
        }
        return found
    }

    /// Waits until the thread can take a permit of a semaphore, or a group is empty, or the limit
    /// has passed.
    func wait(_ thread: SimulatedThread, for counter: SystemCounter, until limit: UInt64) -> ecs_end
    {
        // Before others run and advance time.
        let deadline = dispatchTimes.deadline(of: limit, at: now)
        if phase == .checking {
            if take(counter, by: thread, deadline) { return ecs_free }
            if now >= deadline { return ecs_late }
            refuseToWait(thread)
        }
        noteUse(counter, ecs_signal)
        (thread.isSignalled, thread.waitsOutside) = (false, false)
        let mayPause =
            (phase == .running || phase == .unwinding) && thread.undivided == 0
            && !ecs_is_making_static()
        var pauses = mayPause
        while true {
            if pauses { pause(thread, for: counter, deadline) }
            if take(counter, by: thread, deadline) { return ecs_free }
            guard now < deadline else {
                log?.add(.writes, counter.word)
                trace?.add(thread, .givesUp(name(of: counter)))
                return ecs_late
            }
            if isOnlyOutside(counter),
                counter.isGroup || thread.waitsOutside || !mayPause || isAlone(thread, deadline)
            {
                if counters[counter].name != nil { failForJobs(in: counter, thread) }
                if failure != nil { giveUp(thread) }
                return ecs_outside
            }
            pauses = true
        }
    }

    /// Runs other threads until this one can take what it waits for.
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
        // At an earlier point, a try could have failed.
        if deadline != .max { log?.add(.writes, counter.word) }
        return true
    }

    private func didTake(_ counter: SystemCounter, by thread: SimulatedThread) {
        if !counter.isGroup {
            // A permit that an outside thread gave was not counted.
            counters[counter].permits = counters[counter].permits.map { max($0 - 1, 0) }
            counters[counter].enter(thread)
        }
        trace?.add(thread, .takes(name(of: counter)))
        log?.add(.acquires, counter.word)
        pass(.acquires, counter.word, by: thread)
    }

    /// Whether no known simulated thread could end a wait: none holds a permit of a semaphore that
    /// the schedule did not create, or none is in the group.
    private func isOnlyOutside(_ counter: SystemCounter) -> Bool {
        let state = counters[counter]
        return (state.isGroup || state.name == nil) && state.taken <= 0
    }

    /// Fails: no simulated thread is in a group that is not empty, so `async(group:)` has entered
    /// it.
    private func failForJobs(in group: SystemCounter, _ thread: SimulatedThread) {
        fail(
            .foreign,
            "'\(thread.name)' waits for '\(name(of: group))', which threads of the system have entered: they run "
                + "outside of the simulation. Use contexts of the simulation there (law 33).")
    }

    func didWaitOutside(
        _ thread: SimulatedThread, for counter: SystemCounter, until limit: UInt64, wasTaken: Bool
    ) {
        if wasTaken {
            counters[counter].fromOutside += 1
            return didTake(counter, by: thread)
        }
        // The same duration on both clocks.
        now = max(now, min(dispatchTimes.deadline(of: limit, at: now), settings.horizon))
        trace?.add(thread, .givesUp(name(of: counter)))
    }

    /// In the search of all orders: threads that wait for a permit could have taken one that
    /// another thread holds, and threads that wait for a group could have preceded its entry.
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
