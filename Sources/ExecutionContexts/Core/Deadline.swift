internal import Synchronization

/// Until when the caller wants a result; it travels with the task and the jobs that it submits.
///
/// `withDeadline(in:on:)` sets it. Inside, ``current`` is the earliest deadline of all that are
/// around. A job that was submitted by `run`, `submit` or one of their kind has the submitter's
/// deadline as its own, and is refused if it would begin later (law 38).
public final class Deadline: Sendable {
    /// Where the deadline is kept; pass it to `propagating`, for jobs without a result.
    ///
    /// Not by the macro `TaskLocal`, which every build would have to load.
    public static let taskLocal = TaskLocal<Deadline?>(wrappedValue: nil)

    /// The deadline of the calling task or job; nil outside of any.
    public static var current: Deadline? { taskLocal.get() }

    private static let isUsed = Atomic<Bool>(false)

    /// Whether any deadline was ever set. Submissions do not look for one before that. Relaxed: the
    /// thread that has set it sees it, and passes it on with the deadline.
    @usableFromInline
    static var mayExist: Bool { isUsed.load(ordering: .relaxed) }

    private let instant: ContextInstant
    /// Read anew each time: a simulation has its own time, whatever the context is.
    private let ownTime: @Sendable () -> any TimeSource
    /// The enclosing one of another time; which of the two is earlier may change.
    private let outer: Deadline?

    private init(
        at instant: ContextInstant, in time: @escaping @Sendable () -> any TimeSource,
        inside outer: Deadline?
    ) {
        self.instant = instant
        ownTime = time
        self.outer = outer
    }

    package var time: any TimeSource { ownTime() }

    /// The time that is left in this deadline's own time.
    private var ownRemaining: Duration { max(time.now.duration(to: instant), .zero) }

    /// The time that is left, in the time of the context that it was set on; zero once it has
    /// passed.
    public var remaining: Duration {
        let own = ownRemaining
        return outer.map { min(own, $0.remaining) } ?? own
    }

    /// Whether there is no time left.
    public var hasPassed: Bool { time.now >= instant || outer?.hasPassed == true }

    /// This deadline and the outer ones of other times, each with the time that is left.
    package var limits: [(time: any TimeSource, remaining: Duration)] {
        [(time, ownRemaining)] + (outer?.limits ?? [])
    }

    /// The deadline of the calling task or job.
    package static var ofCaller: Deadline? { mayExist ? current : nil }

    /// The caller's deadline, if it is earlier; else a new one, and how much time it leaves.
    package static func earlier(
        in limit: Duration, on context: some ExecutionContext
    ) -> (deadline: Deadline, remaining: Duration) {
        let time = context.time
        var outer = ofCaller
        if let remaining = outer?.limits.first(where: { $0.time === time })?.remaining {
            if let outer, remaining <= limit { return (outer, remaining) }
            // The new one is earlier than the one of its time, for as long as both exist. So there
            // is at most one of each time.
            outer = outer?.without(time)
        }
        isUsed.store(true, ordering: .relaxed)
        let instant = time.now.advanced(by: limit)
        return (Deadline(at: instant, in: { context.time }, inside: outer), limit)
    }

    /// This deadline and those around it, but for the one of this time.
    private func without(_ time: any TimeSource) -> Deadline? {
        if self.time === time { return outer }
        let rest = outer?.without(time)
        return rest === outer ? self : Deadline(at: instant, in: ownTime, inside: rest)
    }

    /// The shorter of a limit and what the caller's deadlines of that time leave; nil if there is
    /// neither.
    package static func shortened(_ limit: Duration?, in time: any TimeSource) -> Duration? {
        guard let deadline = ofCaller else { return limit }
        let left = deadline.limits.filter { $0.time === time }.map(\.remaining)
        return (left + (limit.map { [$0] } ?? [])).min()
    }

    /// Whether the calling task or job has a deadline.
    @usableFromInline
    static var isSet: Bool { ofCaller != nil }

    /// Runs `body` with this deadline, or without one: that of the thread is another caller's.
    package static func with<Result>(
        _ deadline: Deadline?, _ body: () throws -> Result
    ) rethrows -> Result {
        deadline === ofCaller ? try body() : try taskLocal.withValue(deadline, operation: body)
    }

    /// Runs `body` without a deadline: it is not of the thread's caller, as a callback of a future,
    /// a drain of several submitters' jobs, or work that several callers share.
    package static func without(_ body: () -> Void) { with(nil, body) }

    /// What calls `body` with the caller's deadline, whichever thread calls it.
    static func keeping<Input, Output>(_ body: @escaping @Sendable (Input) throws -> Output)
        -> @Sendable (Input) throws -> Output
    {
        let deadline = ofCaller
        return { input in try with(deadline) { try body(input) } }
    }

    /// What runs `body` on the context of that name, with the caller's deadline or with none, and
    /// throws a refusal if it has passed by then.
    package static func admitting<Value>(
        _ body: @escaping @Sendable () throws -> Value, by context: @autoclosure () -> String,
        from location: @autoclosure () -> String
    ) -> @Sendable () throws -> Value {
        guard mayExist else { return body }
        guard let deadline = current else { return { try with(nil, body) } }
        let (context, location) = (context(), location())
        return {
            try deadline.admit(by: context, from: location)
            return try with(deadline, body)
        }
    }

    /// The same, for a body that runs in a task.
    package static func admitting<Value>(
        _ body: @escaping @Sendable () async throws -> Value,
        by context: @autoclosure () -> String, from location: @autoclosure () -> String
    ) -> @Sendable () async throws -> Value {
        guard mayExist else { return body }
        guard let deadline = current else {
            return { try await taskLocal.withValue(nil) { try await body() } }
        }
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
    try Deadline.taskLocal.withValue(Deadline.earlier(in: limit, on: context).deadline) {
        Result(catching: body)
    }.get()
}
