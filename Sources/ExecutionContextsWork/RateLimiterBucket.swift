internal import ExecutionContexts

/// The tokens of a limiter: a state machine that is asked and told, and has no clock.
///
/// It counts no tokens. It keeps the moment at which the bucket will be full again: each token that is taken puts that off
/// by the time that one takes to come, and one is there for as long as that moment is not too far away. So nothing is
/// rounded twice, however long it runs.
struct RateLimiterBucket {
    /// In nanoseconds, the time that a token takes to come; far beyond any program's life where that is longer.
    private let interval: Int64
    /// In nanoseconds, how far away a full bucket may be for one token to be left.
    private let allowance: Int64
    private var full: Moment?

    private static var longest: Int64 { .max / 4 }

    init(rate: Double, per period: Duration, burst: Int) {
        // Rounded up, so that none is early.
        let exact = (period / .nanoseconds(1) / rate).rounded(.up)
        interval = exact < Double(Self.longest) ? max(Int64(exact), 1) : Self.longest
        let (product, isTooLong) = interval.multipliedReportingOverflow(by: Int64(burst - 1))
        allowance = isTooLong ? Self.longest : min(product, Self.longest)
    }

    /// When the next token is there.
    func next(at now: Moment) -> Moment {
        guard let full else { return now }
        return max(now, full.advanced(by: .nanoseconds(-allowance)))
    }

    /// Takes a token, which must be there.
    mutating func take(at now: Moment) {
        full = max(full ?? now, now).advanced(by: .nanoseconds(interval))
    }
}
