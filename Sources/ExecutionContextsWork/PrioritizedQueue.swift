public import ExecutionContexts

/// A queue that runs the most urgent work first, and never more than so much at a time.
///
/// ```swift
/// let downloads = PrioritizedQueue(on: .global, limit: 4, name: "downloads")
/// let picture = downloads.submit(priority: .low) { try decode("wren.jpg") }
/// picture.priority = .high
/// picture.async.onSuccess(on: .main) { print("shown: \($0)") }
/// ```
///
/// What runs next is chosen when a place is free, and not before: until then its priority can change and it can be
/// cancelled. Of one priority the first submitted is the first chosen. With a limit above 1 those that are at work at the
/// same time begin as the context has it. A low priority waits for as long as something higher does.
///
/// The queue has no threads; its work runs on the context that it is given (law 11). A place is taken from the moment in
/// which work is handed to that context until it has ended: a body has returned or thrown, an async one too, an open
/// piece is ended besides. The limit holds at every moment (law 32).
///
/// A queue that is let go of runs what was submitted (law 10); if it is suspended then, it resumes, and a limit of 0 counts
/// as 1, since nobody could do either any more. All of it may be used from any thread, and from its own work. It is not
/// serial with a limit of 1: an async body lets go of its thread where it suspends, though not of its place.
public final class PrioritizedQueue: Sendable {
    let core: PrioritizedQueueCore

    /// Makes a queue whose work runs on `context`, at most `limit` pieces at a time.
    ///
    /// With a limit of 0 nothing starts until it is raised. A negative one stops the program.
    public init(on context: some ExecutionContext, limit: Int, name: String = "queue") {
        core = PrioritizedQueueCore(on: context, limit: Self.checked(limit, name), name: name)
    }

    deinit { core.letGo() }

    /// What people call it, in messages and in tools.
    public var name: String { core.name }

    /// How many pieces may be at work at a time.
    ///
    /// Raised, it starts what waits, before the setter returns; lowered, it stops nothing, and nothing starts until fewer
    /// are at work. A negative limit stops the program.
    public var limit: Int {
        get { core.limit }
        set { core.limit = Self.checked(newValue, name) }
    }

    /// Starts nothing until it is resumed; what has been handed to the context goes on.
    ///
    /// Twice is as once: one `resume` is enough.
    public func suspend() { core.isSuspended = true }

    /// Starts what waits, after a `suspend`; without one it does nothing.
    public func resume() { core.isSuspended = false }

    /// Whether it is suspended.
    public var isSuspended: Bool { core.isSuspended }

    /// How many pieces wait for a place.
    public var pendingCount: Int { core.pendingCount }

    /// How many places are taken: by work that runs, or that the context has and not begun.
    public var runningCount: Int { core.runningCount }

    private static func checked(_ limit: Int, _ name: String) -> Int {
        require(
            limit >= 0,
            "The queue '\(name)' was given a limit of \(limit), and fewer than none cannot be at work (law 32). "
                + "Pass 0 to start nothing for now.")
        return limit
    }
}

// MARK: - Submitting

extension PrioritizedQueue {
    /// Runs `work` on the queue's context when its turn comes, and tells nobody.
    public func execute(priority: WorkPriority = .medium, _ work: consuming @escaping Work) {
        core.submit(PlainJob(core.bound(consume work), refused: nil, of: core, priority))
    }

    /// Runs `body` when its turn comes, and gives its value, or its error, as an `Async`.
    ///
    /// Cancelled before it has begun it never runs, and its `Async` ends with `CancellationError`; a body that has begun
    /// runs to its end. If the context refuses or abandons it, the `Async` ends with a `Refusal` (law 1).
    @discardableResult
    public func submit<Value: Sendable>(
        priority: WorkPriority = .medium, fileID: StaticString = #fileID, line: UInt = #line,
        _ body: @escaping @Sendable () throws -> Value
    ) -> QueuedWork<Value> {
        queued(BodyJob(body, Promise(fileID: fileID, line: line), of: core, priority))
    }

    /// Runs an async `body` in a task on the queue's context when its turn comes, and gives its value as an `Async`.
    ///
    /// It keeps its place until the body has returned or thrown, also while it is suspended. Cancelled before it has begun
    /// it never runs; later its task is cancelled, and the `Async` ends at once. It sees no task-local values of the
    /// submitter but those that the context carries. On a context that may refuse work, what the body does after its first
    /// hop may run elsewhere, as with `taskExecutor` (law 13).
    @discardableResult
    public func submitTask<Value: Sendable>(
        priority: WorkPriority = .medium, fileID: StaticString = #fileID, line: UInt = #line,
        _ body: @escaping @Sendable () async throws -> Value
    ) -> QueuedWork<Value> {
        queued(TaskJob(body, Promise(fileID: fileID, line: line), of: core, priority))
    }

    /// Runs `body` when its turn comes; the work ends when what `body` was given says so, perhaps long after it returned.
    ///
    /// ```swift
    /// let page = downloads.submitOpen(of: String.self) { work in
    ///     load("birds.html") { text in work.succeed(text) }
    /// }
    /// ```
    ///
    /// Its place is free when it was ended and the body has returned. An ``OpenWork`` that is dropped without having been ended
    /// frees it too, and the `Async` ends with an error that says so (law 26).
    @discardableResult
    public func submitOpen<Value: Sendable>(
        of type: Value.Type = Value.self, priority: WorkPriority = .medium, fileID: StaticString = #fileID,
        line: UInt = #line, _ body: @escaping @Sendable (OpenWork<Value>) -> Void
    ) -> QueuedWork<Value> {
        queued(OpenJob(body, "\(fileID):\(line)", Promise(fileID: fileID, line: line), of: core, priority))
    }

    private func queued<Value: Sendable>(_ job: AnswerJob<Value>) -> QueuedWork<Value> {
        let work = QueuedWork(job)
        job.promise.onCancel { job.asyncWasCancelled() }
        job.entry = core.base.binding?({ job.perform() })
        core.submit(job)
        return work
    }
}
