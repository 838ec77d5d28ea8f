internal import CSimulation
internal import ExecutionContexts

// Calls by the concurrency runtime and the system on a host thread.
extension HostThread {
    static func of(_ simulation: UnsafeMutableRawPointer) -> HostThread {
        // Only the host's own thread has the pointer, and that thread retains the host.
        unsafe Unmanaged<HostThread>.fromOpaque(simulation).takeUnretainedValue()
    }

    /// The reading of the system's clocks on this thread; negative outside of a schedule.
    var clockReading: Int64 {
        HiddenFromSanitizer.begin()
        defer { HiddenFromSanitizer.end() }
        return scheduler?.readClock() ?? -1
    }

    /// The thread sleeps in simulated time, as in a system call; returns false if the scheduler
    /// itself calls it.
    func pause(for nanoseconds: Int64) -> Bool {
        guard !HiddenFromSanitizer.isActive, let thread, let scheduler else { return false }
        HiddenFromSanitizer.begin()
        if ecs_is_making_static() {
            // Others may need the static variable being made, and would block.
            scheduler.now += nanoseconds
        } else {
            scheduler.pause(thread, for: nanoseconds)
        }
        HiddenFromSanitizer.end()
        return true
    }

    /// A task on this thread changes its executor, at no scheduling point.
    func didMissChange() { scheduler?.hosts.didMissChange() }

    /// The task of this thread continues on an executor of the program's own.
    func willHandOver() {
        HiddenFromSanitizer.begin()
        if let thread, let scheduler { scheduler.tasks.willHandOver(thread) }
        HiddenFromSanitizer.end()
    }

    /// This thread created a task, in functions with these addresses.
    func didCreate(_ task: TaskJob, by callers: UnsafeBufferPointer<UInt>) {
        if HiddenFromSanitizer.isActive { return }
        HiddenFromSanitizer.begin()
        if let thread, let scheduler { unsafe scheduler.didCreate(task, by: callers, thread) }
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
        if scheduler.phase == .checking {
            // The lookup may itself wait for a lock of the runtime.
            isLooking = true
            defer { isLooking = false }
            if lock.isCondition || scheduler.holder(of: lock) != nil {
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

    /// This thread takes a lock of the system: orders of those are not tried. In a program with
    /// tasks, the orders of all steps are, and the runtime itself has such locks.
    func willLock() {
        guard !HiddenFromSanitizer.isActive, let scheduler, let thread else { return }
        scheduler.memory?.synchronize(thread.id)
        guard let log = scheduler.log, log.isOpen, !log.hasTasks else { return }
        scheduler.chooser.orders?.isCut = true
    }

    /// A task begins on this thread.
    func didStart(_ name: String?) {
        HiddenFromSanitizer.begin()
        if let thread, let scheduler { scheduler.tasks.didStart(thread, name) }
        HiddenFromSanitizer.end()
    }

    func take(_ job: TaskJob, after delay: Int64) {
        HiddenFromSanitizer.begin()
        scheduler?.take(job, after: delay)
        HiddenFromSanitizer.end()
    }

    /// Prints the schedule that ends with a trap on this thread.
    func reportTrap() {
        HiddenFromSanitizer.begin()
        if let thread, let scheduler { scheduler.reportTrap(thread) }
        HiddenFromSanitizer.end()
    }
}
