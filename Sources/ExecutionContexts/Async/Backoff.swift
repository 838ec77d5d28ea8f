/// How long to wait before the next attempt of a retry.
///
/// ```swift
/// let backoff = Backoff.exponential(from: .milliseconds(100), limit: .seconds(10)).jittered(by: 0.2)
/// ```
public struct Backoff: Sendable {
    /// The delay after the failed attempt of this number; the first attempt is number 1.
    public let delay: @Sendable (_ attempt: Int) -> Duration

    /// Makes a back-off from a function of the failed attempt's number, which begins at 1.
    public init(_ delay: @escaping @Sendable (_ attempt: Int) -> Duration) { self.delay = delay }

    /// No delay.
    public static let none = Backoff { _ in .zero }

    /// The same delay each time.
    public static func constant(_ delay: Duration) -> Backoff { Backoff { _ in delay } }

    /// A delay that is multiplied by `factor` each time, up to `limit`; traps if the factor is
    /// negative.
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

    /// This delay, lengthened or shortened at random by up to `part` of it; traps if `part` is not
    /// 0 to 1.
    ///
    /// Callers that failed at the same time then retry at different times.
    public func jittered(by part: Double) -> Backoff {
        require(
            part >= 0 && part <= 1, "A back-off has a jitter of \(part). Pass a part from 0 to 1."
        )
        return Backoff { [delay] attempt in
            let nanoseconds = delay(attempt).saturatedNanoseconds
            let factor = Double.random(in: (1 - part)...(1 + part))
            return .nanoseconds(Int64(clamping: nanoseconds, times: factor))
        }
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
