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

    /// A wait that is multiplied by `factor` each time, up to `limit`; a negative factor stops the program.
    public static func exponential(
        from first: Duration, factor: Double = 2, limit: Duration = .seconds(60)
    ) -> Backoff {
        require(
            factor >= 0, "A back-off was to be multiplied by \(factor) each time. Pass a factor of 0 or more."
        )
        return Backoff { attempt in
            // By squaring: a huge number of the attempt takes no longer than a small one.
            var power = 1.0
            var square = factor
            var left = max(attempt, 1) - 1
            while left > 0 {
                if left % 2 == 1 { power *= square }
                square *= square
                left /= 2
            }
            return min(limit, .nanoseconds(Int64(clamping: first.saturatedNanoseconds, times: power)))
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
    /// The product, or the end of the range where it lies beyond; nothing times infinity is nothing.
    fileprivate init(clamping count: Int64, times factor: Double) {
        guard count != 0, factor != 1 else {
            self = count
            return
        }
        let product = Double(count) * factor
        self = product >= 0x1p63 ? .max : product <= -0x1p63 ? .min : Int64(product)
    }
}
