internal import CSimulation
internal import ExecutionContexts

// The Dispatch semaphores and groups that the program's code on this thread uses.
extension HostThread {
    /// The thread and its scheduler, if the program's code calls, not the simulation's.
    var ofProgram: (SimulatedThread, SimulationScheduler)? {
        guard !isLooking, let thread, let scheduler, scheduler.phase != .over,
            // A condition of the program is checked while the scheduler runs.
            !HiddenFromSanitizer.isActive || scheduler.phase == .checking
        else { return nil }
        return (thread, scheduler)
    }

    func hidden<Result>(_ body: () -> Result) -> Result {
        HiddenFromSanitizer.begin()
        defer { HiddenFromSanitizer.end() }
        return body()
    }

    /// This thread created a semaphore with a value, or a group.
    func didMake(_ counter: SystemCounter, _ value: Int, isForSystem: Bool) {
        // The lock taken here is not the program's.
        hidden { SharedCounters.forget(counter.word) }
        guard let (thread, scheduler) = ofProgram else { return }
        hidden {
            // An object made once in a process would exist in the first schedule only.
            if isForSystem || thread.undivided > 0 || ecs_is_making_static() {
                scheduler.forget(counter)
            } else {
                scheduler.didMake(counter, value)
            }
        }
    }

    /// This thread is about to signal a semaphore, or to enter or leave a group.
    func willUse(_ counter: SystemCounter) -> Bool {
        guard let (thread, scheduler) = ofProgram else { return false }
        hidden { scheduler.willUse(counter, by: thread) }
        return true
    }

    /// This thread has used it; returns whether another thread was waiting for that.
    func didUse(_ counter: SystemCounter, _ use: ecs_use) -> Bool {
        guard let (thread, scheduler) = ofProgram else { return false }
        return hidden { scheduler.didUse(counter, use, by: thread) }
    }

    /// Waits for a semaphore or a group, until a time of Dispatch.
    func wait(for counter: SystemCounter, until limit: UInt64) -> ecs_end {
        guard let (thread, scheduler) = ofProgram else { return ecs_not_waited }
        return hidden { scheduler.wait(thread, for: counter, until: limit) }
    }

    /// This thread blocked outside of the simulation, on a semaphore or a group.
    func didWaitOutside(for counter: SystemCounter, until limit: UInt64, wasTaken: Bool) {
        guard let (thread, scheduler) = ofProgram else { return }
        hidden { scheduler.didWaitOutside(thread, for: counter, until: limit, wasTaken: wasTaken) }
    }

    /// This thread submits work that Dispatch runs outside.
    func willGiveAway(to name: String) {
        guard ofProgram != nil else { return }
        willSubmitOutside(to: name.isEmpty ? "a queue of Dispatch" : name)
    }

    /// The program read a Dispatch clock on this thread.
    func didReadDispatch(_ time: UInt64) {
        guard let (_, scheduler) = ofProgram else { return }
        hidden { scheduler.dispatchTimes.didRead(time, at: scheduler.now) }
    }

    /// The program derived a Dispatch time from another one.
    func didAdd(_ interval: Int64, to base: UInt64, giving time: UInt64) {
        guard let (_, scheduler) = ofProgram else { return }
        hidden { scheduler.dispatchTimes.didAdd(interval, to: base, giving: time) }
    }
}
