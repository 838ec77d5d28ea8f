public import ExecutionContexts

/// Limits how often jobs begin on a serial context, in the order of submission.
///
/// ```swift
/// let limiter = RateLimiter(on: ManualContext(), rate: 10, per: .seconds(1), burst: 3)
/// limiter.submit { "a request" }.onSuccess { print("sent: \($0)") }
/// ```
///
/// After a quiet period three jobs begin at once, then one every tenth of a second. It is a token
/// bucket: it holds at most `burst` tokens, gains one every `per / rate`, and a job takes a token
/// where it begins, on the context. So however late the context is, at most `burst` jobs begin at
/// one moment, and none begins early (law 7). A job that is cancelled, refused or dropped takes no
/// token.
///
/// Nothing overtakes a waiting job. Time is the context's, also a virtual one, and at most one
/// delay is pending at a time. Any thread may use the limiter, and so may its own jobs, whose
/// submissions then wait after earlier ones. Waiting jobs keep alive what they need, so the limiter
/// itself may be released (law 10).
///
/// With a burst of 1 each job waits for a separate delay, which ends late by the system's timer
/// latency. For more than some thousand jobs a second use a burst of several milliseconds' worth of
/// jobs.
///
/// It does not limit how many jobs run at a time: use `PrioritizedQueue` for that.
public final class RateLimiter: Sendable {
    private let core: RateLimiterCore

    /// Creates a limiter on `context` for `rate` jobs in each `period`, and `burst` at once after a
    /// quiet period.
    ///
    /// It traps if the rate is not finite or not above zero, if the period is not above zero, and
    /// if the burst is below 1. The time between two jobs is rounded up to whole nanoseconds.
    public init(
        on context: some SerialContext, rate: Double, per period: Duration = .seconds(1),
        burst: Int = 1,
        fileID: StaticString = #fileID, line: UInt = #line
    ) {
        core = RateLimiterCore(
            on: context, Self.bucket(rate, period, burst, context.name),
            from: CodePlace(fileID, line))
    }

    /// Creates a limiter on a context that runs several jobs at a time.
    ///
    /// Jobs are handed to the context at the rate, in the order of submission, and may run side by
    /// side there. The context decides when they begin: never earlier, and later if it is busy. A
    /// job that was handed over is not cancelled with its `Async`.
    @_disfavoredOverload
    public init(
        on context: some ExecutionContext, rate: Double, per period: Duration = .seconds(1),
        burst: Int = 1,
        fileID: StaticString = #fileID, line: UInt = #line
    ) {
        core = RateLimiterCore(
            on: context.serial(named: "\(context.name), rate limit"), target: context,
            Self.bucket(rate, period, burst, context.name),
            from: CodePlace(fileID, line))
    }

    private static func bucket(
        _ rate: Double, _ period: Duration, _ burst: Int, _ name: String
    ) -> RateLimiterBucket {
        require(
            rate.isFinite && rate > 0,
            "The rate limiter on '\(name)' has a rate of \(rate) (law 32). "
                + "Pass a finite number above zero.")
        require(
            period > .zero,
            "The rate limiter on '\(name)' has a period of \(period) (law 32). "
                + "Pass a period above zero.")
        require(
            burst >= 1,
            "The rate limiter on '\(name)' has a burst of \(burst) (law 32). "
                + "Pass 1 or more.")
        return RateLimiterBucket(rate: rate, per: period, burst: burst)
    }

    /// How many jobs wait to begin.
    public var pendingCount: Int { core.pendingCount }

    /// Runs `work` on the context when a token is available, and reports no result.
    ///
    /// If the context refuses it, it is submitted once more as an accepted job.
    public func execute(_ work: consuming @escaping Work) {
        core.submit(RateLimitedJob(core.bound(consume work), dropped: nil))
    }

    /// Runs `body` on the context when a token is available, and returns its value or its error as
    /// an `Async`.
    ///
    /// Cancelling the `Async` before the body has begun frees the body's captures at once, and the
    /// body never runs. If it has begun, the `Async` ends nevertheless, and the body's value is
    /// discarded. If the context refuses or drops the job, the `Async` ends with a `Refusal` (law
    /// 1).
    @discardableResult
    public func submit<Value: Sendable>(
        fileID: StaticString = #fileID, line: UInt = #line,
        _ body: @escaping @Sendable () throws -> Value
    ) -> Async<Value> {
        submit(TakenToken(), fileID, line, body)
    }

    private func submit<Value: Sendable>(
        _ token: TakenToken, _ fileID: StaticString, _ line: UInt,
        _ body: @escaping @Sendable () throws -> Value
    ) -> Async<Value> {
        let promise = Promise<Value>(fileID: fileID, line: line)
        let body = Deadline.admitting(body, by: core.name, from: "\(fileID):\(line)")
        let work = core.bound { [core, deadline = Deadline.ofCaller] in
            // A body that does not begin takes no token.
            if let deadline, deadline.hasPassed { core.giveBack(token.number) }
            let outcome = Result { try body() }
            promise.complete(outcome)
        }
        let number = core.submit(
            RateLimitedJob(work, token: token, dropped: { promise.fail($0) }))
        promise.onCancel { [core] in core.cancel(number) }
        return promise.async
    }

    /// The same, for a body that may find that it needs no token, and gives it back.
    ///
    /// ```swift
    /// let limiter = RateLimiter(on: context, rate: 10)
    /// let known = ["wren": 7]
    /// limiter.submit { token in
    ///     if let count = known["wren"] {
    ///         token.giveBack()
    ///         return count
    ///     }
    ///     return try store.fetch("wren").count
    /// }
    /// ```
    @discardableResult
    public func submit<Value: Sendable>(
        fileID: StaticString = #fileID, line: UInt = #line,
        _ body: @escaping @Sendable (_ token: RateLimiterToken) throws -> Value
    ) -> Async<Value> {
        let (core, token) = (core, TakenToken())
        return submit(token, fileID, line) { try body(RateLimiterToken(token.number, of: core)) }
    }
}

/// The token of a job that a rate limiter has begun.
public final class RateLimiterToken: Sendable {
    private let core: RateLimiterCore
    private let number: UInt64
    private let isGivenBack = Once()

    fileprivate init(_ number: UInt64, of core: RateLimiterCore) {
        self.core = core
        self.number = number
    }

    /// Gives the token to the next job, which then begins sooner.
    ///
    /// The second call does nothing, and neither does a call after the limiter has regained the
    /// token. It may do nothing if the limiter has given out more than 256 others since, without
    /// ever having all of its tokens.
    public func giveBack() { if isGivenBack.claim() { core.giveBack(number) } }
}
