// The actors that jobs hold while they run.
extension SimulatedTasks {
    /// The candidates that may begin or continue, except those whose actor is held by a job that
    /// has begun, or has another job to run first.
    func allowed(_ candidates: UInt64) -> UInt64 {
        guard begun != 0 || waitingForActors > 1 else { return candidates }
        var allowed = candidates
        for thread in scheduler.threads where candidates & ~begun & 1 << UInt64(thread.id) != 0 {
            guard let isolation = thread.next?.isolation ?? thread.queue?.isolation, isolation != 0
            else { continue }
            if begun != 0 && isTaken(isolation) || isBehindAnother(thread, candidates & ~begun) {
                allowed &= ~(1 << UInt64(thread.id))
            }
        }
        return allowed
    }

    /// Whether an earlier job of the same actor runs before that of the thread.
    ///
    /// An actor runs its jobs in their order, except that one of a higher priority may overtake
    /// others. A task that changes its actor may lose its processor before it is in that order.
    private func isBehindAnother(_ thread: SimulatedThread, _ waiting: UInt64) -> Bool {
        guard waitingForActors > 1, let job = thread.next else { return false }
        return scheduler.threads.contains { other in
            guard other.arrival < thread.arrival, !other.mayBeLate,
                waiting & 1 << UInt64(other.id) != 0, let earlier = other.next
            else { return false }
            return earlier.isolation == job.isolation && earlier.priority >= job.priority
        }
    }

    private func isTaken(_ isolation: UInt) -> Bool { owner(of: isolation) != nil }

    /// The thread that holds an actor.
    func owner(of isolation: UInt) -> SimulatedThread? {
        scheduler.threads.first { begun & 1 << UInt64($0.id) != 0 && $0.isolation == isolation }
    }

    /// A thread that runs no task enters an actor, until it leaves it.
    func enterActor(_ isolation: UInt, _ thread: SimulatedThread) {
        begun |= 1 << UInt64(thread.id)
        thread.isolation = isolation
        if let actor = Word(address: isolation) { scheduler.log?.add(.acquires, actor) }
    }

    func leaveActor(_ thread: SimulatedThread) {
        begun &= ~(1 << UInt64(thread.id))
        if let actor = Word(address: thread.isolation) { scheduler.log?.add(.releases, actor) }
        thread.isolation = 0
    }
}
