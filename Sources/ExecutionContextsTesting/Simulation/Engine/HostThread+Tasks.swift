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
