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
        guard callerOrReport(using: "the task '\(name)'") != nil else { return }
        if let failure { fail(.threw, "The task '\(name)' threw \(Self.text(failure))") }
    }

    /// Registers a new task, which may run before its creator continues.
    func didCreate(
        _ task: TaskJob, by callers: UnsafeBufferPointer<UInt>, _ thread: SimulatedThread
    ) {
        hosts.taskLease.take(each: hosts.didStep, lost: hosts.isOver.happen)
        guard phase != .over, thread.task?.number != tasks.ignored || thread.task == nil else {
            return
        }
        unsafe tasks.didCreate(task, by: callers)
        trace?.add(thread, .creates)
        point(thread, creates: true)
        log?.add(.writes, .tasks)
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
        if !job.isTask { caller?.hasYielded = true }
        if delay <= 0 { return tasks.add(job) }
        tasks.noteSleep(job)
        _ = clock.add(
            at: ContextInstant(nanoseconds: now).advanced(by: .nanoseconds(delay)), isReady: true
        ) { [tasks] in
            tasks.add(job)
        }
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
