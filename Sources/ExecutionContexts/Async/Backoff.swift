/// How long to wait before the next attempt.
///
/// ```swift
/// let backoff = Backoff.exponential(from: .milliseconds(100), limit: .seconds(10)).jittered(by: 0.2)
/// ```
public struct Backoff: Sendable {
    /// The wait after the attempt of this number, which failed; the first is 1.
    public let delay: @Sendable (_ attempt: Int) -> Duration

    /// Makes a back-off by a function of the number of the attempt that failed, which begins at 1.
    public init(_ delay: @escaping @Sendable (_ attempt: Int) -> Duration) { self.delay = delay }

    /// No wait at all.
    public static let none = Backoff { _ in .zero }

    /// The same wait each time.
    public static func constant(_ delay: Duration) -> Backoff { Backoff { _ in delay } }

    /// A wait that is multiplied by `factor` each time, up to `limit`.
    public static func exponential(
        from first: Duration, factor: Double = 2, limit: Duration = .seconds(60)
    ) -> Backoff {
        Backoff { attempt in
            var delay = first
            // Stops where it is long enough: huge attempts and factors neither take long nor overflow.
            for _ in 1..<max(attempt, 1) {
                guard delay < limit, factor > 1 else { break }
                delay = min(limit, .nanoseconds(Int64(clamping: delay.saturatedNanoseconds, times: factor)))
            }
            return min(delay, limit)
        }
    }

    /// This wait, lengthened or shortened at random by up to this part of it, so that those who failed together do not come
    /// back together.
    public func jittered(by part: Double) -> Backoff {
        require(
            part >= 0 && part <= 1, "A back-off was to be jittered by \(part) of it. Pass a part from 0 to 1."
        )
        return Backoff { [delay] attempt in
            let nanoseconds = delay(attempt).saturatedNanoseconds
            let factor = Double.random(in: (1 - part)...(1 + part))
            return .nanoseconds(Int64(clamping: nanoseconds, times: factor))
        }
    }
}

extension Int64 {
    /// The product, or the end of the range where it lies beyond.
    fileprivate init(clamping count: Int64, times factor: Double) {
        let product = Double(count) * factor
        self = product >= 0x1p63 ? .max : product <= -0x1p63 ? .min : Int64(product)
    }
}
