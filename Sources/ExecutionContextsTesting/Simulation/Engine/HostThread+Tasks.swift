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

    /// Writes random numbers of the schedule in place of the system's; returns false if the
    /// scheduler itself needs some.
    func fill(_ bytes: UnsafeMutableRawBufferPointer) -> Bool {
        guard !HiddenFromSanitizer.isActive, let scheduler, scheduler.phase != .over else {
            return false
        }
        for index in bytes.indices {
            unsafe bytes[index] = UInt8(truncatingIfNeeded: scheduler.random.bits())
        }
        // Who draws first gets the first number.
        scheduler.log?.add(.writes, .library)
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

    /// This thread created a task, which begins with this context, in functions with these
    /// addresses.
    func didCreate(
        _ task: TaskJob, beginningWith context: UInt, by callers: UnsafeBufferPointer<UInt>
    ) {
        if HiddenFromSanitizer.isActive { return }
        HiddenFromSanitizer.begin()
        if let thread, let scheduler {
            unsafe scheduler.didCreate(task, beginningWith: context, by: callers, thread)
        }
        HiddenFromSanitizer.end()
    }

    /// This thread does what the simulation does not control.
    func didMeet(_ use: ecs_outside_use) {
        guard !HiddenFromSanitizer.isActive, let scheduler else { return }
        scheduler.hosts.met.insert(use == ecs_uses_dispatch ? .dispatch : .thread)
    }

    /// This thread is about to cancel this task, or those of a group.
    func willAct(_ act: ecs_act, on task: TaskJob?) {
        if HiddenFromSanitizer.isActive { return }
        HiddenFromSanitizer.begin()
        if let thread, let scheduler { scheduler.willAct(act, on: task, thread) }
        HiddenFromSanitizer.end()
    }

    /// This thread has affected other tasks.
    func didAct(_ act: ecs_act, _ yield: ecs_yield) {
        if HiddenFromSanitizer.isActive { return }
        HiddenFromSanitizer.begin()
        if let thread, let scheduler {
            if act == ecs_resumes { scheduler.passToRunningTasks(from: thread) }
            unsafe scheduler.didAct(act, yield, thread)
        }
        HiddenFromSanitizer.end()
    }

    /// This thread made a continuation of its task, which has this address.
    func didMakeContinuation(_ task: Word) {
        if let thread, let scheduler { scheduler.tasks.didMakeContinuation(of: task, thread) }
    }

    /// Whether this thread may resume a continuation of a task, which may be gone.
    func willResume(_ task: Word) -> Bool {
        guard let thread, let scheduler, scheduler.phase != .over else { return true }
        HiddenFromSanitizer.begin()
        defer { HiddenFromSanitizer.end() }
        return scheduler.willResume(task, thread)
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
