public import ExecutionContexts

/// A queue that runs its most urgent jobs first, and at most `limit` jobs at a time.
///
/// ```swift
/// let downloads = PrioritizedQueue(on: .global, limit: 4, name: "downloads")
/// let picture = downloads.submit(priority: .low) { try decode("wren.jpg") }
/// picture.priority = .high
/// picture.async.onSuccess(on: .main) { print("shown: \($0)") }
/// ```
///
/// The queue chooses the next job when a permit is free, and not before. Until then the job's
/// priority can change and the job can be cancelled. Jobs of one priority are chosen in order of
/// submission. With a limit above 1, the context decides in which order jobs with permits begin. A
/// low-priority job waits as long as a more urgent one does.
///
/// The queue has no threads; its jobs run on an injected context (law 11). A job holds a permit
/// from its hand-over to that context until it has ended: until its body has returned or thrown,
/// also an async one, and for an ``OpenWork`` also until the work was ended. The limit holds at
/// every moment (law 32). On `.global` and `.pool` a job that has a permit may run on the thread of
/// the job that had the permit before it, without a separate hand-over.
///
/// A released queue runs the jobs that it has accepted (law 10). If it is suspended, it resumes,
/// and a limit of 0 counts as 1, since no caller can change either. Any thread may use the queue,
/// and so may its own jobs. A limit of 1 does not make it serial: an async body releases its thread
/// where it suspends, though not its permit.
public final class PrioritizedQueue: Sendable {
    let core: PrioritizedQueueCore

    /// Creates a queue whose jobs run on `context`, at most `limit` at a time.
    ///
    /// With a limit of 0 no job starts until the limit is raised. A negative limit traps.
    public init(on context: some ExecutionContext, limit: Int, name: String = "queue") {
        core = PrioritizedQueueCore(on: context, limit: Self.checked(limit, name), name: name)
    }

    deinit { core.queueReleased() }

    /// The name in messages and tools.
    public var name: String { core.name }

    /// How many jobs may hold a permit at a time.
    ///
    /// Raising the limit starts queued jobs before the setter returns. Lowering it stops no job; no
    /// job starts until fewer than the new limit hold a permit. A negative limit traps.
    public var limit: Int {
        get { core.limit }
        set { core.limit = Self.checked(newValue, name) }
    }

    /// Starts no job until the queue is resumed. Jobs that were handed to the context continue.
    ///
    /// Calls do not nest: one `resume` is enough.
    public func suspend() { core.isSuspended = true }

    /// Starts queued jobs after a `suspend`. Does nothing if the queue is not suspended.
    public func resume() { core.isSuspended = false }

    /// Whether the queue is suspended.
    public var isSuspended: Bool { core.isSuspended }

    /// How many jobs wait for a permit.
    public var pendingCount: Int { core.pendingCount }

    /// How many jobs hold a permit: those that run, and those that the context has not begun.
    public var runningCount: Int { core.runningCount }

    private static func checked(_ limit: Int, _ name: String) -> Int {
        require(
            limit >= 0,
            "The queue '\(name)' has a limit of \(limit), but a limit cannot be negative (law 32). "
                + "Pass 0 to start no job for now.")
        return limit
    }
}

// MARK: - Submitting

extension PrioritizedQueue {
    /// Runs `work` on the queue's context when the queue chooses it, and reports no result.
    public func execute(priority: WorkPriority = .medium, _ work: consuming @escaping Work) {
        core.submit(consume work, priority)
    }

    /// Runs `body` when the queue chooses it, and returns its value or its error as an `Async`.
    ///
    /// If the job is cancelled before it has begun, it never runs, and its `Async` ends with
    /// `CancellationError`. A body that has begun runs to its end. If the context refuses or drops
    /// the job, the `Async` ends with a `Refusal` (law 1).
    @discardableResult
    @inlinable
    public func submit<Value: Sendable>(
        priority: WorkPriority = .medium, fileID: StaticString = #fileID, line: UInt = #line,
        _ body: @escaping @Sendable () throws -> Value
    ) -> QueuedWork<Value> {
        QueuedWork(
            submitBody(priority, fileID, line) {
                do { return .success(QueuedValue(try body())) } catch { return .failure(error) }
            })
    }

    /// Runs an async `body` in a task on the queue's context when the queue chooses it, and returns
    /// its value as an `Async`.
    ///
    /// The job holds its permit until the body has returned or thrown, also while the body is
    /// suspended. If it is cancelled before it has begun, it never runs; later its task is
    /// cancelled, and the `Async` ends at once. The body sees only those task-local values of the
    /// submitter that the context carries. On a context that may refuse jobs, the body may run
    /// elsewhere after its first hop, as with `taskExecutor` (law 13).
    @discardableResult
    public func submitTask<Value: Sendable>(
        priority: WorkPriority = .medium, fileID: StaticString = #fileID, line: UInt = #line,
        _ body: @escaping @Sendable () async throws -> Value
    ) -> QueuedWork<Value> {
        let body = Deadline.admitting(body, by: core.name, from: "\(fileID):\(line)")
        return QueuedWork(
            queued(
                TaskJob(
                    {
                        do { return .success(QueuedValue(try await body())) } catch {
                            return .failure(error)
                        }
                    },
                    at: CodePlace(fileID, line), of: core, priority)))
    }

    /// Runs `body` when the queue chooses it. The work ends when the ``OpenWork`` is ended, perhaps
    /// long after `body` returned.
    ///
    /// ```swift
    /// let page = downloads.submitOpen(of: String.self) { work in
    ///     load("birds.html") { text in work.succeed(text) }
    /// }
    /// ```
    ///
    /// The permit is free when the work was ended and the body has returned. An ``OpenWork`` that
    /// is released before it was ended also frees the permit, and the `Async` ends with an error
    /// (law 26).
    @discardableResult
    public func submitOpen<Value: Sendable>(
        of type: Value.Type = Value.self, priority: WorkPriority = .medium,
        fileID: StaticString = #fileID,
        line: UInt = #line, _ body: @escaping @Sendable (OpenWork<Value>) -> Void
    ) -> QueuedWork<Value> {
        let (deadline, name) = (Deadline.ofCaller, core.name)
        let begin: @Sendable (ResultJob) -> Void = { job in
            let work = OpenWork<Value>(job)
            guard let deadline else { return body(work) }
            do { try deadline.admit(by: name, from: "\(fileID):\(line)") } catch {
                work.fail(error)
                return
            }
            Deadline.with(deadline) { body(work) }
        }
        return QueuedWork(
            queued(
                OpenJob(
                    begin, at: CodePlace(fileID, line), of: core, priority)))
    }

    /// Not generic, so that the caller contains only type-dependent code.
    @usableFromInline
    func submitBody(
        _ priority: WorkPriority, _ fileID: StaticString, _ line: UInt,
        _ body: @escaping @Sendable () -> QueuedOutcome
    ) -> ResultJob {
        queued(
            BodyJob(
                admitting(body, "\(fileID):\(line)"), at: CodePlace(fileID, line),
                of: core, priority))
    }

    /// Returns a closure that runs `body` with the caller's deadline, or fails if that has passed
    /// (law 38).
    private func admitting(
        _ body: @escaping @Sendable () -> QueuedOutcome, _ location: @autoclosure () -> String
    ) -> @Sendable () -> QueuedOutcome {
        guard let deadline = Deadline.ofCaller else { return body }
        let (name, location) = (core.name, location())
        return {
            do { try deadline.admit(by: name, from: location) } catch { return .failure(error) }
            return Deadline.with(deadline, body)
        }
    }

    private func queued(_ job: ResultJob) -> ResultJob {
        if let submissionTransform = core.submissionTransform {
            job.entry = submissionTransform { job.perform() }
        }
        core.submit(job)
        return job
    }
}
