public import ExecutionContexts

/// Lets work begin only so often, on a serial context, in the order in which it came.
///
/// ```swift
/// let limiter = RateLimiter(on: ManualContext(), rate: 10, per: .seconds(1), burst: 3)
/// limiter.submit { "a request" }.onSuccess { print("sent: \($0)") }
/// ```
///
/// Three pieces begin at once after a quiet time, then one each tenth of a second. It is a bucket of tokens: it holds `burst` of them
/// at the most, a new one comes each `per / rate`, and a piece takes one where it begins, on the context. So however late the
/// context is, no more than `burst` begin at one moment, and never one early (law 7). What is cancelled, refused or
/// abandoned takes none.
///
/// Nothing overtakes what waits. Time is the context's, also a virtual one, and at most one delay is set at a time. It may
/// be used from any thread, and from its own work, which then waits behind what came before. Work that waits keeps what it
/// needs; the limiter itself may be let go of (law 10).
///
/// It is not for how many may be at work at a time: that is what `PrioritizedQueue` limits.
public final class RateLimiter: Sendable {
    private let core: RateLimiterCore

    /// Makes a limiter whose work runs on `context`, `rate` pieces in each `period`, and after a quiet time `burst` at once.
    ///
    /// A rate that is not above zero or not finite, a period that is not above zero and a burst below 1 stop the program. The time
    /// between two pieces is rounded up to whole nanoseconds.
    public init(
        on context: some SerialContext, rate: Double, per period: Duration = .seconds(1), burst: Int = 1,
        fileID: StaticString = #fileID, line: UInt = #line
    ) {
        let name = context.name
        require(
            rate.isFinite && rate > 0,
            "A rate of \(rate) on '\(name)' would never let anything begin, or means nothing (law 32). "
                + "Pass a finite number above zero.")
        require(
            period > .zero,
            "A rate of \(rate) per \(period) on '\(name)' means nothing (law 32). Pass a period above zero.")
        require(
            burst >= 1,
            "A burst of \(burst) on '\(name)' would never let anything begin (law 32). Pass 1 or more.")
        core = RateLimiterCore(
            on: context, RateLimiterBucket(rate: rate, per: period, burst: burst),
            from: SourcePlace(fileID: fileID, line: line))
    }

    /// How many pieces wait to begin.
    public var pendingCount: Int { core.pendingCount }

    /// Runs `work` on the context when a token is free, and tells nobody.
    ///
    /// If the context refuses it, it is sent once more as what has been accepted.
    public func execute(_ work: consuming @escaping Work) {
        core.submit(RateLimiterPiece(core.bound(consume work), dropped: nil))
    }

    /// Runs `body` on the context when a token is free, and gives its value, or its error, as an `Async`.
    ///
    /// Cancelling the `Async` before the body has begun frees what it captured at once, and it never runs. Later the `Async`
    /// ends all the same, and nobody hears of the body's value. If the context refuses or abandons the work, it ends with
    /// a `Refusal` (law 1).
    @discardableResult
    public func submit<Value: Sendable>(
        fileID: StaticString = #fileID, line: UInt = #line, _ body: @escaping @Sendable () throws -> Value
    ) -> Async<Value> {
        let promise = Promise<Value>(fileID: fileID, line: line)
        let work = core.bound {
            let outcome = Result { try body() }
            promise.complete(outcome)
        }
        let piece = RateLimiterPiece(work, dropped: { promise.fail($0) })
        promise.onCancel { [core] in core.cancel(piece) }
        core.submit(piece)
        return promise.async
    }
}
