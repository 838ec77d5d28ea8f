internal import ExecutionContexts

/// The token bucket of a limiter: a state machine without a clock.
///
/// It stores no token count. It stores the instant at which the bucket will be full again. Each
/// taken token postpones that instant by one interval, and a token is available while the instant
/// is near enough. So nothing is rounded twice, however long the limiter runs.
struct RateLimiterBucket {
    /// Nanoseconds per token, capped at a value far beyond the life of any program.
    private let interval: Int64
    /// How far ahead, in nanoseconds, the full instant may be while one token is left.
    private let allowance: Int64
    private var full: ContextInstant?

    private static var longest: Int64 { .max / 4 }

    init(rate: Double, per period: Duration, burst: Int) {
        // Rounded up, so that no token is early.
        let exact = (period / .nanoseconds(1) / rate).rounded(.up)
        interval = exact < Double(Self.longest) ? max(Int64(exact), 1) : Self.longest
        let (product, isTooLong) = interval.multipliedReportingOverflow(by: Int64(burst - 1))
        allowance = isTooLong ? Self.longest : min(product, Self.longest)
    }

    /// When the next token is available.
    func next(at now: ContextInstant) -> ContextInstant {
        guard let full else { return now }
        return max(
            now, ContextInstant(nanoseconds: full.nanoseconds.addingSaturating(-allowance)))
    }

    /// Takes a token, which must be available.
    mutating func take(at now: ContextInstant) {
        let start = max(full ?? now, now).nanoseconds
        full = ContextInstant(nanoseconds: start.addingSaturating(interval))
    }

    /// When every token that was taken so far is in the bucket again.
    var refill: ContextInstant? { full }

    /// Puts a token back that was taken, unless the bucket has gained it anew by then.
    ///
    /// - Parameter refill: the `refill` of the moment after the take.
    mutating func giveBack(_ refill: ContextInstant?, at now: ContextInstant) {
        guard let full, let refill, refill > now else { return }
        self.full = ContextInstant(nanoseconds: full.nanoseconds.addingSaturating(-interval))
    }
}
