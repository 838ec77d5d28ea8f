internal import CSimulation
internal import ExecutionContexts

// The Dispatch queues to which the program's code on this thread submits jobs.
extension HostThread {
    /// Whether the simulation runs the jobs that this thread submits.
    var takesJobs: Bool { ofProgram != nil }

    /// Calls `body` as the scheduler, if the program's code calls.
    private func withProgram<Result>(
        _ body: (SimulatedThread, SimulationScheduler) -> Result
    ) -> Result? {
        guard let (thread, scheduler) = ofProgram else { return nil }
        return hidden { body(thread, scheduler) }
    }

    func didMake(_ queue: SystemQueue, isForSystem: Bool) {
        hidden { SharedCounters.forget(queue.word) }
        withProgram { thread, scheduler in
            // An object made once in a process would exist in the first schedule only.
            if isForSystem || thread.undivided > 0 || ecs_is_making_static() {
                scheduler.forget(queue)
            } else {
                scheduler.didMake(queue)
            }
        }
    }

    func submit(_ job: SystemJob, at time: UInt64) {
        withProgram { $1.submit(job, at: time, by: $0) }
    }

    /// Runs the body of a thread that the program makes; false if the simulation itself makes one.
    func detach(_ body: @escaping @Sendable () -> Void, mayPause: Bool) -> Bool {
        let isDone: Bool? = withProgram { thread, scheduler in
            scheduler.runOnNewThread(body, by: thread)
            if mayPause { scheduler.point(thread, creates: true) }
            return true
        }
        return isDone == true
    }

    func notify(_ group: SystemCounter, _ job: SystemJob) -> Bool {
        withProgram { $1.notify(group, job, by: $0) } ?? false
    }

    func runInQueue(_ job: SystemJob) {
        if withProgram({ $1.runInQueue(job, by: $0) }) == nil { job.run() }
    }

    func apply(_ count: Int, in queue: SystemQueue?, _ body: @escaping (Int) -> Void) {
        withProgram { $1.apply(count, in: queue, by: $0, body) }
    }

    func willTouchDispatch(_ object: Word) {
        withProgram { $1.willTouchDispatch(object, by: $0) }
    }

    func didChangeQueue(_ queue: Word) {
        withProgram { $1.didChangeQueue(queue, by: $0) }
    }

    func didMake(item group: SystemCounter) {
        hidden { SharedCounters.forget(group.word) }
        withProgram { $1.didMake(item: group) }
    }

    func willWait(forItem group: SystemCounter) {
        withProgram { $1.willWait(forItem: group) }
    }

    func didRun(item group: SystemCounter) {
        withProgram { $1.didRun(item: group, by: $0) }
    }

    /// The queue of a job that this thread runs, innermost first; the main queue where it holds the
    /// main actor.
    func queue(at depth: Int) -> (queue: SystemQueue, isExclusive: Bool)? {
        guard let frames = thread?.dispatchFrames else { return nil }
        if depth < frames.count {
            let frame = frames[frames.count - 1 - depth]
            return (frame.queue.queue, frame.isExclusive)
        }
        let isNamed = frames.contains { $0.queue.queue.isMain }
        return depth == frames.count && hasMainActor && !isNamed ? (.main, true) : nil
    }

    /// Whether this thread runs a job of the main actor, or of the main queue.
    var hasMainActor: Bool { thread?.isolation == TaskJob.mainActor }
}
