internal import CSimulation
internal import ExecutionContexts

// The semaphores and groups of Dispatch, of which the program's code on this thread makes use.
extension HostThread {
    /// The scheduler, where code of the program calls and no code of the simulation.
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

    /// This thread has made a semaphore with a value, or a group.
    func didMake(_ counter: SystemCounter, _ value: Int, isForSystem: Bool) {
        // Its lock is none of the program's.
        hidden { SharedCounters.forget(counter.word) }
        guard let (thread, scheduler) = ofProgram else { return }
        hidden {
            // What is made once in a process would be the first schedule's only.
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

    /// It has done so; returns whether another thread waited for that.
    func didUse(_ counter: SystemCounter, _ use: ecs_use) -> Bool {
        guard let (thread, scheduler) = ofProgram else { return false }
        return hidden { scheduler.didUse(counter, use, by: thread) }
    }

    /// Waits for a semaphore or a group, until a time of Dispatch.
    func wait(for counter: SystemCounter, until limit: UInt64) -> ecs_end {
        guard let (thread, scheduler) = ofProgram else { return ecs_not_waited }
        return hidden { scheduler.wait(thread, for: counter, until: limit) }
    }

    /// This thread has blocked in the system for a semaphore or a group.
    func didWaitOutside(for counter: SystemCounter, until limit: UInt64, wasTaken: Bool) {
        guard let (thread, scheduler) = ofProgram else { return }
        hidden { scheduler.didWaitOutside(thread, for: counter, until: limit, wasTaken: wasTaken) }
    }

    /// This thread gives work to what Dispatch runs outside.
    func willGiveAway(to name: String) {
        guard ofProgram != nil else { return }
        willSubmitOutside(to: name.isEmpty ? "a queue of Dispatch" : name)
    }

    /// The program has read a clock of Dispatch on this thread.
    func didReadDispatch(_ time: UInt64) {
        guard let (_, scheduler) = ofProgram else { return }
        hidden { scheduler.dispatchTimes.didRead(time, at: scheduler.now) }
    }

    /// The program has made a time of Dispatch from another one.
    func didAdd(_ interval: Int64, to base: UInt64, giving time: UInt64) {
        guard let (_, scheduler) = ofProgram else { return }
        hidden { scheduler.dispatchTimes.didAdd(interval, to: base, giving: time) }
    }
}
