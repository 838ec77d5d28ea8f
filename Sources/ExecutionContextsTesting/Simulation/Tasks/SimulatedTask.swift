internal import CSimulation
internal import ExecutionContexts

extension SimulationScheduler {
    /// Starts the program's first task, with the task-local values of the search.
    func startFirstTask(_ locals: TaskLocals, _ body: @escaping @Sendable () async throws -> Void) {
        tasks.ignored = locals.number
        locals.perform {
            Task(name: "the test") { await self.run("the test", body) }
        }
    }

    /// Starts a task of the program.
    func startTask(_ name: String, _ body: @escaping @Sendable () async throws -> Void) {
        HiddenFromSanitizer.begin()
        let isCalledInside = callerOrReport(using: name) != nil
        HiddenFromSanitizer.end()
        guard isCalledInside else { return }
        Task.detached(name: name) { await self.run(name, body) }
    }

    private func run(_ name: String, _ body: @Sendable () async throws -> Void) async {
        var failure: (any Error)?
        do { try await body() } catch { failure = error }
        taskDidEnd(name, failure)
    }

    private func taskDidEnd(_ name: String, _ failure: (any Error)?) {
        HiddenFromSanitizer.begin()
        defer { HiddenFromSanitizer.end() }
        guard let thread = callerOrReport(using: "the task '\(name)'") else { return }
        guard let failure else { return }
        thread.task?.thrown = "\(type(of: failure))"
        fail(.threw, "The task '\(name)' threw \(Self.text(failure))")
    }

    /// Registers a new task, which may run before its creator continues.
    func didCreate(
        _ task: TaskJob, beginningWith context: UInt, by callers: UnsafeBufferPointer<UInt>,
        _ thread: SimulatedThread
    ) {
        hosts.taskLease.take(each: hosts.didStep, lost: hosts.isOver.happen)
        guard phase != .over, thread.task?.number != tasks.ignored || thread.task == nil else {
            return
        }
        unsafe tasks.didCreate(task, beginningWith: context, by: callers)
        // XCTest awaits a test's function in a task, and does nothing else until that ends.
        let caller = unsafe callers.first.flatMap { unsafe UnsafeRawPointer(bitPattern: $0) }
        if unsafe ecs_is_xctest(caller) { return }
        trace?.add(thread, .creates(task.number))
        point(thread, creates: true)
        log?.add(.writes, .tasks)
    }

    /// A thread is about to cancel tasks. What their handlers do follows.
    func willAct(_ act: ecs_act, on task: TaskJob?, _ thread: SimulatedThread) {
        guard phase == .running || phase == .unwinding, let trace else { return }
        let cancelled = task.map {
            TaskAct.CancelledTask(number: $0.number, state: tasks.state(of: $0))
        }
        trace.add(thread, willDo: act, to: cancelled)
    }

    /// A thread has resumed a continuation, cancelled tasks, or used a stream: those who learn of
    /// it may run before it continues.
    func didAct(_ act: ecs_act, _ yield: ecs_yield, _ thread: SimulatedThread) {
        guard phase == .running || phase == .unwinding else { return }
        if let trace {
            let outcome = unsafe ecs_outcome_of(yield)
            trace.add(thread, did: act, outcome, resuming: thread.resumed)
        }
        thread.resumed = []
        point(thread)
        log?.add(.writes, .tasks)
    }

    /// Whether a thread may resume a continuation, which has no other protection if it is unsafe.
    func willResume(_ task: Word, _ thread: SimulatedThread) -> Bool {
        guard let waiter = tasks.endContinuation(of: task) else { return true }
        fail(
            .resumedTwice,
            "'\(thread.name)' resumes a continuation of '\(waiter)' that was resumed before. Elsewhere "
                + "the task would continue in a wrong place, or the process would end.",
            locations: [(thread.name, CallerLocation())])
        return false
    }

    /// Takes a job from the runtime that is ready after a delay.
    func take(_ job: TaskJob, after delay: Int64) {
        if job.isTask, job.number != tasks.ignored, !hosts.mayOwn(job) {
            fail(
                .foreign,
                "A task that the simulation did not start was resumed in it. Let no outside task wait for the simulation (law 33)."
            )
            return HiddenFromSanitizer.suspended { job.enqueueOutside() }
        }
        hosts.taskLease.take(each: hosts.didStep, lost: hosts.isOver.happen)
        guard phase != .over else { return }
        log?.add(.writes, .tasks)
        // The runtime resumes a task that yields with a separate job.
        if !job.isTask, let caller {
            caller.hasYielded = true
            if job.number != 0, job.number == caller.task?.number { caller.isYielding = true }
        }
        if delay <= 0 {
            noteResumption(job)
            return tasks.add(job)
        }
        tasks.noteSleep(job)
        _ = clock.add(
            at: ContextInstant(nanoseconds: now).advanced(by: .nanoseconds(delay)), isReady: true
        ) { [tasks] in
            tasks.add(job)
        }
    }

    /// Keeps, for the story, which task the running thread makes ready.
    private func noteResumption(_ job: TaskJob) {
        guard trace != nil, let caller, let name = tasks.title(of: job, besides: caller) else {
            return
        }
        caller.resumed.append(name)
    }

    /// The reading of the system's clocks.
    ///
    /// A loop that waits by reading a clock has no other point at which time could advance: after
    /// many readings in one step, each takes time, and each tenth is a scheduling point.
    func readClock() -> Int64 {
        if readings.step != steps { readings = (steps, 0, now) }
        readings.count += 1
        guard readings.count > 1_000 else { return now }
        chooser.orders?.isCut = true
        let longer = now + max(10_000, (now - readings.start) / 100)
        now = max(now, min(longer, settings.horizon))
        // A loop of sleeps that end at once, since its task is cancelled, also gets here.
        if readings.count % 10 == 0, let thread = caller {
            if phase == .unwinding { giveUp(thread) }
            step(thread, isPoint: false)
            readings.step = steps
        }
        return now
    }
}

extension SimulationScheduler {
    /// An error as text, with a full stop.
    static func text(_ error: any Error) -> String {
        // Swift Testing has already recorded its own error, whose description is long, as an issue.
        if String(describing: type(of: error)) == "ExpectationFailedError" {
            return "because a requirement failed: the issue that it has recorded says which."
        }
        let text = "\(error)"
        return text.hasSuffix(".") ? text : text + "."
    }
}
