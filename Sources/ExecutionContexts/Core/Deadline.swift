internal import Synchronization

/// Until when the caller wants a result; it travels with the task and the jobs that it submits.
///
/// `withDeadline(in:on:)` sets it. Inside, ``current`` is the earliest deadline of all that are
/// around. A job that was submitted by `run`, `submit` or one of their kind has the submitter's
/// deadline as its own, and is refused if it would begin later (law 38).
public final class Deadline: Sendable {
    /// Where the deadline is kept; pass it to `propagating`, for jobs without a result.
    ///
    /// Not by the macro `TaskLocal`, which every build would have to load for this one declaration.
    public static let taskLocal = TaskLocal<Deadline?>(wrappedValue: nil)

    /// The deadline of the calling task or job; nil outside of any.
    public static var current: Deadline? { taskLocal.get() }

    /// Whether any deadline was ever set. Submissions do not look for one before that.
    private static let isUsed = Atomic<Bool>(false)

    private let instant: ContextInstant
    private let now: @Sendable () -> ContextInstant

    fileprivate init(in limit: Duration, on context: some ExecutionContext) {
        // Asked again each time: a simulation has its own time, whatever the context is.
        now = { context.time.now }
        instant = context.time.now.advanced(by: limit)
        // Relaxed: the thread that has set it sees it, and passes it on with the deadline.
        Self.isUsed.store(true, ordering: .relaxed)
    }

    /// The time that is left, in the time of the context that it was set on; zero once it has
    /// passed.
    public var remaining: Duration { max(now().duration(to: instant), .zero) }

    /// Whether there is no time left.
    public var hasPassed: Bool { now() >= instant }

    /// The deadline of the calling task or job.
    package static var ofCaller: Deadline? {
        isUsed.load(ordering: .relaxed) ? current : nil
    }

    /// The earlier of the caller's deadline and a new one, and how much time it leaves.
    package static func earlier(
        in limit: Duration, on context: some ExecutionContext
    ) -> (deadline: Deadline, remaining: Duration) {
        if let outer = ofCaller {
            let remaining = outer.remaining
            if remaining <= limit { return (outer, remaining) }
        }
        return (Deadline(in: limit, on: context), limit)
    }

    /// The shorter of a limit and the time that the caller's deadline leaves.
    package static func shortened(_ limit: Duration) -> Duration {
        ofCaller.map { min(limit, $0.remaining) } ?? limit
    }

    /// The same; nil if there is neither.
    package static func shortened(_ limit: Duration?) -> Duration? {
        limit.map { shortened($0) } ?? ofCaller?.remaining
    }

    /// What runs `body` with the caller's deadline, and throws a refusal if it has passed by then.
    ///
    /// `context` is the name of the context that is to run it.
    package static func admitting<Value>(
        _ body: @escaping @Sendable () throws -> Value, by context: @autoclosure () -> String,
        from location: @autoclosure () -> String
    ) -> @Sendable () throws -> Value {
        guard let deadline = ofCaller else { return body }
        let (context, location) = (context(), location())
        return {
            try deadline.admit(by: context, from: location)
            return try taskLocal.withValue(deadline, operation: body)
        }
    }

    /// The same, for a body that runs in a task, which has the deadline already.
    package static func admitting<Value>(
        _ body: @escaping @Sendable () async throws -> Value,
        by context: @autoclosure () -> String, from location: @autoclosure () -> String
    ) -> @Sendable () async throws -> Value {
        guard let deadline = ofCaller else { return body }
        let (context, location) = (context(), location())
        return {
            try deadline.admit(by: context, from: location)
            return try await taskLocal.withValue(deadline) { try await body() }
        }
    }

    /// Throws a refusal if the deadline has passed.
    package func admit(
        by context: @autoclosure () -> String, from location: @autoclosure () -> String?
    ) throws(Refusal) {
        if hasPassed {
            throw Refusal(.deadlinePassed, by: context(), sourceLocation: location())
        }
    }
}

/// Runs `body` with a deadline, which it, and the jobs that it submits, see as `Deadline.current`.
///
/// The deadline is `limit` from now, in the time of `context`, or the one that is set already, if
/// that is earlier. It does not interrupt `body`. In async code the overload with an async body
/// does.
///
/// ```swift
/// let birds = withDeadline(in: .seconds(2), on: database) {
///     database.submit { "a row" }
/// }
/// ```
public func withDeadline<Value, Failure: Error>(
    in limit: Duration, on context: some ExecutionContext,
    _ body: () throws(Failure) -> Value
) throws(Failure) -> Value {
    let result = Deadline.taskLocal.withValue(Deadline.earlier(in: limit, on: context).deadline) {
        Result(catching: body)
    }
    return try result.get()
}
