// The primitives' operations, as the scheduler sees them.
extension SimulationScheduler {
    func willTouch(_ word: Word, by thread: SimulatedThread) {
        thread.refused = nil
        point(thread)
        if !thread.held.isEmpty, let index = thread.held.lastIndex(of: word) {
            thread.held.remove(at: index)
            trace?.add(thread, .leaves(names.name(of: word) ?? "a lock"))
        } else if let trace, let name = names.name(of: word) {
            trace.add(thread, .touches(name))
        }
    }

    func willStep(_ thread: SimulatedThread) {
        thread.refused = nil
        point(thread)
    }

    func willEnter(_ owner: Word, by thread: SimulatedThread) {
        if !thread.held.isEmpty, phase == .running { noteOrder(owner, thread) }
        point(thread)
        // No other thread runs between this check and the operation that follows.
        if owner.holder == 0 {
            thread.held.append(owner)
            thread.refused = nil
        } else {
            thread.refused = owner
        }
        guard let trace else { return }
        let name = names.name(of: owner) ?? "a lock"
        trace.add(thread, thread.refused == nil ? .enters(name) : .isRefused(name))
    }

    func park(_ thread: SimulatedThread, until deadline: Int64) -> Bool {
        if phase == .checking { refuseToWait(thread) }
        step(thread)
        if !thread.hasToken {
            thread.wasWoken = false
            thread.deadline = deadline
            thread.wait = thread.awaited ?? thread.refused.map { .lock($0) } ?? .nothing
            trace?.add(thread, .sleeps)
            suspend(thread, .asleep)
            if deadline != .max { timed |= 1 << UInt64(thread.id) }
            pass(from: thread, choose(thread, stays: false))
            // The owner handed the lock over while this thread was parked.
            if let refused = thread.refused, refused.holder == thread.host.identifier {
                thread.held.append(refused)
            }
            thread.wait = .nothing
        }
        thread.awaited = nil
        let wasWoken = thread.hasToken || thread.wasWoken
        thread.hasToken = false
        return wasWoken
    }

    /// The thread to wake, after a scheduling point; nil if it is not part of this simulation.
    func willUnpark(_ number: UInt32, by thread: SimulatedThread) -> SimulatedThread? {
        point(thread)
        guard let sleeper = threads.first(where: { $0.host.identifier == number }) else {
            fail(
                .foreign,
                "'\(thread.name)' wakes a thread that the simulation did not start. Start threads with spawn, and "
                    + "let no thread outside wait for what happens inside.")
            return nil
        }
        return sleeper.isDone ? nil : sleeper
    }

    func unpark(_ sleeper: SimulatedThread) {
        if sleeper.state == .asleep {
            sleeper.wasWoken = true
            wake(sleeper)
        } else {
            sleeper.hasToken = true
        }
    }

    /// Suspends the thread until `isOver` returns true; another thread calls `wake` to make it
    /// check again.
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
}
