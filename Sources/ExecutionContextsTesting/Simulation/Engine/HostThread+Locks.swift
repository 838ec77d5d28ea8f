internal import CSimulation
internal import ExecutionContexts

// Locks and conditions of the system, used by the program on a host thread.
extension HostThread {
    /// This thread is about to take a lock, or to use a condition.
    func willLock(_ lock: SystemLock, waits: Bool) {
        guard !HiddenFromSanitizer.isActive, let scheduler, let thread else { return }
        HiddenFromSanitizer.begin()
        defer { HiddenFromSanitizer.end() }
        if isUndivided { return scheduler.willLockUnseen(nil, by: thread) }
        scheduler.willLock(lock, by: thread, waits: waits)
    }

    /// This thread takes a lock that may be of the system's own code.
    func willLockUnseen(_ lock: SystemLock) {
        guard !HiddenFromSanitizer.isActive, let scheduler, let thread else { return }
        HiddenFromSanitizer.begin()
        scheduler.willLockUnseen(isUndivided ? nil : lock, by: thread)
        HiddenFromSanitizer.end()
    }

    /// This thread has taken the lock.
    func didLock(_ lock: SystemLock) {
        guard !HiddenFromSanitizer.isActive, let scheduler, let thread else { return }
        HiddenFromSanitizer.begin()
        // It may know all that has happened: what a lock guards is not known.
        scheduler.memory?.synchronize(thread.id)
        if !isUndivided { scheduler.didLock(lock, by: thread) }
        HiddenFromSanitizer.end()
    }

    /// This thread has released the lock; false if the simulation did not know that it had it.
    func didUnlock(_ lock: SystemLock) -> Bool {
        guard !HiddenFromSanitizer.isActive, let scheduler, let thread, thread.has(lock)
        else { return false }
        HiddenFromSanitizer.begin()
        scheduler.didUnlock(lock, by: thread)
        HiddenFromSanitizer.end()
        return true
    }

    /// Whether this thread is in a section without scheduling points, such as that of a test's log.
    /// It uses locks unseen there: a static variable is made in the first schedule only.
    private var isUndivided: Bool { (thread?.undivided ?? 0) > 0 || ecs_is_making_static() }

    /// The lock is gone.
    func didFree(_ lock: SystemLock) {
        guard !HiddenFromSanitizer.isActive else { return }
        HiddenFromSanitizer.begin()
        scheduler?.didFree(lock.word)
        HiddenFromSanitizer.end()
    }

    /// Whether the calling thread waits for a condition in the program's code.
    var waitsForConditions: Bool {
        guard thread != nil, let scheduler, scheduler.phase != .over else { return false }
        return !isLooking && !HiddenFromSanitizer.isActive
    }

    /// Waits until a lock is free, a condition is signalled or the deadline passes. The simulation
    /// does not wait where an outside thread holds the lock.
    func wait(for lock: SystemLock, until deadline: Int64) -> ecs_end {
        guard let thread, let scheduler, !isLooking else { return ecs_not_waited }
        HiddenFromSanitizer.begin()
        let phase = scheduler.phase
        HiddenFromSanitizer.end()
        if phase == .checking {
            // The lookup may itself wait for a lock of the runtime.
            isLooking = true
            defer { isLooking = false }
            if lock.isCondition || scheduler.holder(of: lock, for: thread) != nil {
                scheduler.refuseToWait(thread)
            }
            return ecs_not_waited
        }
        // The runtime may wait for a lock of its own while the scheduler runs.
        if HiddenFromSanitizer.isActive { return ecs_not_waited }
        HiddenFromSanitizer.begin()
        defer { HiddenFromSanitizer.end() }
        return scheduler.wait(thread, for: lock, until: deadline)
    }

    /// This thread signals a condition of the system.
    func didSignal(_ condition: SystemLock, toAll: Bool) {
        if HiddenFromSanitizer.isActive { return }
        HiddenFromSanitizer.begin()
        scheduler?.didSignal(condition, toAll: toAll)
        HiddenFromSanitizer.end()
    }
}
