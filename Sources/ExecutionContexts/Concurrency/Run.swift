extension ExecutionContext {
    /// Runs `body` on this context and returns its value, or throws its error.
    ///
    /// Cancelling the awaiting task before the body has started throws `CancellationError`, and the
    /// body never runs; once it runs, it runs to its end (law 13). If the context refuses or
    /// abandons the job, a `Refusal` is thrown: no caller hangs (law 1). No thread is blocked
    /// meanwhile. Calls of one actor are submitted in the order in which the actor makes them.
    ///
    /// ```swift
    /// let rows = try await database.run { try store.fetch(query) }
    /// ```
    @inlinable
    @_disfavoredOverload
    public nonisolated(nonsending) func run<Value: Sendable>(
        fileID: StaticString = #fileID, line: UInt = #line,
        _ body: @escaping @Sendable () throws -> Value
    ) async throws -> Value {
        // Unsafe only if two threads access it at a time. The one that decides how the job ends
        // does, and then the task, which that end resumes. Where the end is an error, the task
        // does not look. A box of the caller's module, which knows the type: an object of a generic
        // class looks up the size of what it frees.
        nonisolated(unsafe) var state = (
            body: (Deadline.mayExist ? admitting(body, fileID, line) : body)
                as (@Sendable () throws -> Value)?,
            outcome: Result<Value, any Error>?.none
        )
        let submission = AwaitedSubmission(fileID, line) { runs in
            let body = unsafe state.body.unsafelyUnwrapped
            unsafe state.body = nil
            if runs { unsafe state.outcome = outcome(of: body) }
        }
        if try !submission.submit(to: self) { try await submission.wait() }
        return try unsafe state.outcome.unsafelyUnwrapped.get()
    }

    /// Runs an async `body` on this context and returns its value, or throws its error.
    ///
    /// The body is a part of the calling task: it sees the task's cancellation and task-local
    /// values. Whenever it suspends, other jobs of the context run, also on a serial one. If the
    /// task was cancelled before, the body never runs. The name differs from `run` because a
    /// closure that awaits nothing fits both.
    ///
    /// A context that may refuse jobs can do so once, before the body starts. Then a `Refusal` is
    /// thrown and the body never runs (law 1).
    @inlinable
    public nonisolated(nonsending) func runTask<Value: Sendable>(
        fileID: StaticString = #fileID, line: UInt = #line,
        _ body: @escaping @Sendable () async throws -> Value
    ) async throws -> Value {
        let mayRefuse = mayRefuse
        if mayRefuse { try await run(fileID: fileID, line: line) {} }
        return try await withTaskExecutorPreference(taskExecutor(mayRefuse: mayRefuse)) {
            try checkMayRun(fileID, line)
            return try await body()
        }
    }

    /// Runs `body` on this context and returns a future of its value, or its error.
    ///
    /// Cancelling the `Async` before the body has started completes it with `CancellationError`,
    /// and the body never runs; a body that has started runs to its end and completes it. If the
    /// context refuses or abandons the job, it completes with a `Refusal` (law 1).
    @inlinable
    @discardableResult
    @_disfavoredOverload
    public func submit<Value: Sendable>(
        fileID: StaticString = #fileID, line: UInt = #line,
        _ body: @escaping @Sendable () throws -> Value
    ) -> Async<Value> {
        let state = SubmittedState(fileID: fileID, line: line)
        // Unsafe only if two threads access it at a time: only the one that runs the job does.
        nonisolated(unsafe) var waiting: (@Sendable () throws -> Value)? =
            Deadline.mayExist ? admitting(body, fileID, line) : body
        state.send(to: self) {
            // The body is freed before the caller gets its answer (law 10).
            let outcome = outcome(of: unsafe waiting.unsafelyUnwrapped)
            unsafe waiting = nil
            state.complete(with: consume outcome)
        }
        return Async(state: state)
    }

    @usableFromInline
    func admitting<Value>(
        _ body: @escaping @Sendable () throws -> Value, _ fileID: StaticString, _ line: UInt
    ) -> @Sendable () throws -> Value {
        Deadline.admitting(body, by: name, from: "\(fileID):\(line)")
    }

    /// Starts a task that runs an async `body` on this context, and returns a future of its value,
    /// or its error.
    ///
    /// Cancelling the `Async` completes it with `CancellationError` at once, and cancels the task.
    /// A context that may refuse jobs can do so once, before the body starts. Then the `Async`
    /// completes with a `Refusal` (law 1).
    @discardableResult
    public func submitTask<Value: Sendable>(
        fileID: StaticString = #fileID, line: UInt = #line,
        _ body: @escaping @Sendable () async throws -> Value
    ) -> Async<Value> {
        let body = Deadline.admitting(body, by: name, from: "\(fileID):\(line)")
        let place = CodePlace(fileID, line)
        guard mayRefuse else {
            return Async(state: TaskState(place, on: taskExecutor(mayRefuse: false), body))
        }
        let state = TaskState(place, on: taskExecutor(mayRefuse: true)) {
            try await self.run(fileID: fileID, line: line) {}
            return try await body()
        }
        return Async(state: state)
    }

    /// Throws if the calling task is cancelled, or if its deadline has passed.
    @usableFromInline
    func checkMayRun(_ fileID: StaticString, _ line: UInt) throws {
        try Task.checkCancellation()
        try Deadline.ofCaller?.admit(by: name, from: "\(fileID):\(line)")
    }
}

extension Async {
    /// Makes a future of an async function, which a task of its own begins to run at once.
    ///
    /// ```swift
    /// let birds = Async { try await client.birds() }
    /// ```
    ///
    /// Cancelling the `Async` completes it with `CancellationError` at once, and cancels the task.
    /// `get()` is the opposite: it awaits an `Async` in async code. A task that awaits it raises
    /// the priority of the inner task to its own, as with `Task.value`.
    public init(
        fileID: StaticString = #fileID, line: UInt = #line,
        _ body: @escaping @Sendable () async throws -> Value
    ) {
        self.init(state: TaskState(CodePlace(fileID, line), on: nil, body))
    }
}

extension MainActorContext {
    /// Runs a closure of the main actor on this context and returns its value, or throws its error.
    public nonisolated(nonsending) func run<Value: Sendable>(
        fileID: StaticString = #fileID, line: UInt = #line,
        _ body: @escaping @MainActor @Sendable () throws -> Value
    ) async throws -> Value {
        try await general.run(fileID: fileID, line: line) { try MainActor.assumeIsolated(body) }
    }

    /// Runs a closure of the main actor on this context and returns a future of its value.
    @discardableResult
    public func submit<Value: Sendable>(
        fileID: StaticString = #fileID, line: UInt = #line,
        _ body: @escaping @MainActor @Sendable () throws -> Value
    ) -> Async<Value> {
        general.submit(fileID: fileID, line: line) { try MainActor.assumeIsolated(body) }
    }

    /// Runs a closure of the main actor on this context and returns the value that it made, which
    /// need not be `Sendable`.
    public nonisolated(nonsending) func run<Value>(
        fileID: StaticString = #fileID, line: UInt = #line,
        _ body: @escaping @MainActor @Sendable () throws -> sending Value
    ) async throws -> sending Value {
        let sent = try await general.run(fileID: fileID, line: line) {
            try MainActor.assumeIsolated { Sent(try body()) }
        }
        return sent.value
    }
}

/// The future state of a task.
private final class TaskState<Value: Sendable>: FutureState, @unchecked Sendable {
    // Unchecked: the task is set and read while the state is locked and pending, and released by
    // the thread that ended it. The location never changes.
    private let location: CodePlace
    private var task: Task<Void, Never>?

    init(
        _ location: CodePlace, on executor: (any TaskExecutor)?,
        _ body: @escaping @Sendable () async throws -> Value
    ) {
        self.location = location
        super.init(tag: Self.holdsUntilCompletion)
        let task = Task(executorPreference: executor) {
            do { _ = self.complete(with: try await body()) } catch {
                _ = self.complete(throwing: error)
            }
        }
        guard lockIfPending() else { return }
        self.task = task
        lock.unlock()
    }

    override func cancel() -> Bool {
        let task = whilePending { self.task }
        guard giveUp(CancellationError()) else { return false }
        // Cancellation handlers run inside this call, and may cancel the next future.
        if let task { BoundedNesting.call([{ task.cancel() }]) }
        return true
    }

    override func escalateTask(to priority: TaskPriority) {
        whilePending { task }?.raise(to: priority)
    }

    override func didComplete() { task = nil }

    override var label: String { "an async function at \(location.call)" }
}

// Overloads for values that are not `Sendable`. The compiler chooses the one for `Sendable` values
// where both fit; that one also takes function values, which do not say where their result comes
// from.
extension ExecutionContext {
    /// Runs `body` on this context and returns the value that it made, which need not be
    /// `Sendable`.
    ///
    /// ```swift
    /// let formatter = try await context.run { DateFormatter() }
    /// ```
    ///
    /// The compiler checks that nothing else refers to the value, so no lock is needed. All else is
    /// as with a `Sendable` value.
    @inlinable
    @_disfavoredOverload
    public nonisolated(nonsending) func run<Value>(
        fileID: StaticString = #fileID, line: UInt = #line,
        _ body: @escaping @Sendable () throws -> sending Value
    ) async throws -> sending Value {
        let sent = try await run(fileID: fileID, line: line) { Sent(try body()) }
        return sent.value
    }

    /// Runs an async `body` on this context and returns the value that it made, which need not be
    /// `Sendable`.
    @inlinable
    public nonisolated(nonsending) func runTask<Value>(
        fileID: StaticString = #fileID, line: UInt = #line,
        _ body: @escaping @Sendable () async throws -> sending Value
    ) async throws -> sending Value {
        let sent = try await runTask(fileID: fileID, line: line) { Sent(try await body()) }
        return sent.value
    }
}

/// A value on its way to the caller.
@frozen @usableFromInline
struct Sent<Value>: @unchecked Sendable {
    // Unchecked: the body sends the value to this, and only the caller takes it out.
    @usableFromInline let value: Value

    @inlinable
    init(_ value: sending Value) { self.value = value }
}

/// Runs an async `body` with a deadline, and throws when it passes (law 38).
///
/// The body runs in a task of its own, and sees the deadline as `Deadline.current`. So does what it
/// submits: jobs that would begin later are refused, time limits are shortened, and retries stop.
///
/// - When the deadline passes, this throws ``AsyncError/timedOut(after:)`` and cancels that task.
/// - If the calling task is cancelled, so is the body's.
/// - A deadline that is set already, and earlier, counts instead.
///
/// ```swift
/// let page = try await withDeadline(in: .seconds(5), on: context) {
///     try await client.birds()
/// }
/// ```
public nonisolated(nonsending) func withDeadline<Value: Sendable>(
    in limit: Duration, on context: some ExecutionContext,
    fileID: StaticString = #fileID, line: UInt = #line,
    _ body: @escaping @Sendable () async throws -> Value
) async throws -> Value {
    try Task.checkCancellation()
    let (deadline, remaining) = Deadline.earlier(in: limit, on: context)
    guard !deadline.hasPassed else { throw AsyncError.timedOut(after: remaining) }
    var value = Deadline.taskLocal.withValue(deadline) {
        Async(fileID: fileID, line: line) {
            // The task may begin long after this call.
            if deadline.hasPassed { throw AsyncError.timedOut(after: remaining) }
            return try await body()
        }
    }
    // On no context: what keeps a context busy may be the body itself.
    let ownTime = context.time
    for limit in deadline.limits {
        value = value.timeout(
            after: limit.time === ownTime ? remaining : limit.remaining,
            on: TimeContext(time: limit.time, name: context.name), fileID: fileID, line: line)
    }
    return try await value.getOrCancel()
}
