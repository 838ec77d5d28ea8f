extension Async {
    /// Returns a future of the first attempt that succeeds, or of the last one.
    ///
    /// ```swift
    /// let backoff = Backoff.exponential(from: .milliseconds(100))
    /// let birds = Async.retry(attempts: 5, backoff: backoff, on: network) { attempt in
    ///     dataSource.getBirds()
    /// }
    /// ```
    ///
    /// Attempts start on `context`, one after the other, with delays in its time (law 7). An error
    /// is the outcome if `isWorthwhile` is false for it or the back-off gives up. Cancelling ends
    /// the delay, or cancels the current attempt.
    ///
    /// `budget` limits all attempts and delays together. An error whose delay would not end within
    /// it is the outcome at once. When it passes during an attempt, the result fails with
    /// ``AsyncError/timedOut(after:)`` and leaves the attempt (law 26). An earlier deadline of the
    /// caller's shortens the budget (law 38).
    @_disfavoredOverload
    public static func retry(
        attempts: Int, backoff: Backoff = .none, within budget: Duration? = nil,
        on context: some ExecutionContext,
        fileID: StaticString = #fileID, line: UInt = #line,
        while isWorthwhile: @escaping @Sendable (any Error) -> Bool = { _ in true },
        _ body: @escaping @Sendable (_ attempt: Int) throws -> Async
    ) -> Async {
        require(
            attempts > 0,
            "A retry allows \(attempts) attempts, so it can never succeed. Allow at least 1."
        )
        let budget = Deadline.shortened(budget, in: context.time)
        if let budget, budget <= .zero {
            return Async(error: AsyncError.timedOut(after: budget))
        }
        let attempts = Attempts(
            limit: attempts, backoff: backoff,
            deadline: budget.map { context.time.now.advanced(by: $0) }, context: context,
            place: CodePlace(fileID, line), isWorthwhile: isWorthwhile,
            body: Deadline.keeping(body))
        let state = Timed("retry", on: context)
        let retry = Async(state: state)
        // Before the first attempt, which an inline context makes during this call.
        let limited = budget.map {
            retry.timeout(after: $0, on: context, fileID: fileID, line: line)
        }
        attempts.start(1, for: state)
        return limited ?? retry
    }
}

/// What a retry attempts. Passed from one attempt to the next, so the last one frees it.
private struct Attempts<Value: Sendable, Context: ExecutionContext>: Sendable {
    let limit: Int
    let backoff: Backoff
    /// The end of the budget, if there is one.
    let deadline: ContextInstant?
    let context: Context
    let place: CodePlace
    let isWorthwhile: @Sendable (any Error) -> Bool
    let body: @Sendable (Int) throws -> Async<Value>

    func start(_ number: Int, for state: Timed) {
        state.hop(to: context, from: place) { make(number, for: state) }
    }

    private func make(_ number: Int, for state: Timed) {
        // One that throws is like an `Async` that fails, so that attempts do not nest (law 25).
        let attempt: Async<Value>
        do { attempt = try body(number) } catch { attempt = Async(error: error) }
        state.follow(attempt.state) { source, state in
            if let error = source.error {
                fail(number, error, for: Timed.of(state))
            } else {
                state.complete(like: source, Value.self)
            }
        }
    }

    private func fail(_ number: Int, _ error: any Error, for state: Timed) {
        guard number < limit, isWorthwhile(error), let delay = backoff.delay(number, error),
            mayWait(delay)
        else { return _ = state.complete(throwing: error) }
        guard delay > .zero else { return start(number + 1, for: state) }
        state.wake(after: delay, on: context, from: place) { make(number + 1, for: state) }
    }

    /// Whether the delay ends within the budget.
    private func mayWait(_ delay: Duration) -> Bool {
        guard let deadline, deadline < .never else { return true }
        return context.time.now.advanced(by: max(delay, .zero)) < deadline
    }
}

/// How long to wait before the next attempt of a retry.
///
/// ```swift
/// let backoff = Backoff.exponential(from: .milliseconds(100), limit: .seconds(10)).jittered(by: 0.2)
/// ```
///
/// One that depends on the error obeys a server that says when to come back, and gives up with nil:
///
/// ```swift
/// struct Busy: Error { let retryAfter: Duration }
///
/// let usual = Backoff.exponential(from: .seconds(1))
/// let polite = Backoff { attempt, error in
///     if error is CancellationError { return nil }
///     return (error as? Busy)?.retryAfter ?? usual.delay(attempt, error)
/// }
/// ```
public struct Backoff: Sendable {
    /// The delay after an attempt that failed, or nil to give up; the first attempt is number 1.
    public let delay: @Sendable (_ attempt: Int, _ error: any Error) -> Duration?

    /// Makes a back-off from a function of the failed attempt's number and error; nil gives up.
    public init(
        _ delay: @escaping @Sendable (_ attempt: Int, _ error: any Error) -> Duration?
    ) { self.delay = delay }

    /// Makes a back-off from a function of the failed attempt's number, which begins at 1.
    public init(_ delay: @escaping @Sendable (_ attempt: Int) -> Duration) {
        self.delay = { attempt, _ in delay(attempt) }
    }

    /// No delay.
    public static let none = Backoff { _ in .zero }

    /// The same delay each time.
    public static func constant(_ delay: Duration) -> Backoff { Backoff { _ in delay } }

    /// A delay that is multiplied by `factor` each time, up to `limit`. A negative factor traps.
    public static func exponential(
        from first: Duration, factor: Double = 2, limit: Duration = .seconds(60)
    ) -> Backoff {
        require(
            factor >= 0, "A back-off has the factor \(factor). Pass a factor of 0 or more."
        )
        return Backoff { attempt in
            // By squaring: a huge attempt number takes hardly longer than a small one.
            var power = 1.0
            var square = factor
            var left = max(attempt, 1) - 1
            while left > 0 {
                if left % 2 == 1 { power *= square }
                square *= square
                left /= 2
            }
            return min(
                limit, .nanoseconds(Int64(clamping: first.saturatedNanoseconds, times: power)))
        }
    }

    /// This delay, lengthened or shortened at random by up to `part` of it, which is 0 to 1.
    ///
    /// Callers that failed at the same time then retry at different times. With a seed, of each
    /// caller's own, an attempt has the same delay in each run. Traps for another `part`.
    public func jittered(by part: Double, seed: UInt64? = nil) -> Backoff {
        require(
            part >= 0 && part <= 1, "A back-off has a jitter of \(part). Pass a part from 0 to 1."
        )
        return Backoff { [delay] attempt, error in
            guard let nanoseconds = delay(attempt, error)?.saturatedNanoseconds else { return nil }
            let range = (1 - part)...(1 + part)
            var chance = SeededChance(seed: seed ?? 0, at: attempt)
            let factor =
                seed == nil ? Double.random(in: range) : .random(in: range, using: &chance)
            return .nanoseconds(Int64(clamping: nanoseconds, times: factor))
        }
    }
}

/// The numbers of SplitMix64 for a seed, from the one at an index: no state lasts between attempts.
private struct SeededChance: RandomNumberGenerator {
    private var state: UInt64

    init(seed: UInt64, at index: Int) {
        state = seed &+ UInt64(truncatingIfNeeded: index) &* 0x9E37_79B9_7F4A_7C15
    }

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return mixed ^ (mixed >> 31)
    }
}

extension Int64 {
    /// The product, clamped to the range of `Int64`; zero times infinity is zero.
    fileprivate init(clamping count: Int64, times factor: Double) {
        guard count != 0, factor != 1 else {
            self = count
            return
        }
        let product = Double(count) * factor
        self = product >= 0x1p63 ? .max : product <= -0x1p63 ? .min : Int64(product)
    }
}
