internal import ExecutionContexts

/// The token bucket of a limiter: a state machine without a clock.
///
/// It stores no token count. It stores the instant at which the bucket will be full again. Each
/// taken token postpones that instant by one interval, and a token is available while the instant
/// is near enough. So nothing is rounded twice, however long the limiter runs.
///
/// A token that is given back was never taken: the instant is computed anew, without it, from the
/// takes since the bucket was last full. So the jobs that kept their tokens are within the rate,
/// whichever tokens are returned, and in whichever order.
///
/// In 128 bits, since a burst of a million tokens of an hour each is longer than 64 bits of
/// nanoseconds.
struct RateLimiterBucket {
    /// Nanoseconds per token.
    private let interval: Int128
    /// How far ahead, in nanoseconds, the full instant may be while one token is left.
    private let allowance: Int128
    private var full = Int128(Int64.min)
    /// The latest takes since the bucket was full, and when it would be full without them.
    private var takes: [(number: UInt64, at: Int128)] = []
    private var fullWithoutTakes = Int128(Int64.min)
    /// The number of the latest taken token, from one.
    private(set) var lastTake: UInt64 = 0

    /// A token can be given back until this many later ones were taken without a pause.
    private static let mostTakes = 256
    /// Far beyond the life of any program, and far below what overflows.
    private static let longest = Int128(1) << 100

    init(rate: Double, per period: Duration, burst: Int) {
        // Rounded up, so that no token is early.
        let exact = (period / .nanoseconds(1) / rate).rounded(.up)
        interval = exact < 0x1p90 ? max(Int128(exact), 1) : Int128(1) << 90
        let (product, isTooLong) = interval.multipliedReportingOverflow(by: Int128(burst - 1))
        allowance = isTooLong ? Self.longest : min(product, Self.longest)
    }

    /// When the next token is available.
    func next(at now: ContextInstant) -> ContextInstant {
        max(now, ContextInstant(nanoseconds: Int64(clamping: full - allowance)))
    }

    /// Takes a token, which must be available.
    mutating func take(at now: ContextInstant) {
        let now = Int128(now.nanoseconds)
        if full <= now {
            takes.removeAll(keepingCapacity: true)
            fullWithoutTakes = now
        } else if takes.count == 2 * Self.mostTakes {
            fullWithoutTakes = fullAgain(after: takes[..<Self.mostTakes])
            takes.removeFirst(Self.mostTakes)
        }
        lastTake += 1
        takes.append((lastTake, now))
        full = max(full, now) + interval
    }

    /// Puts back the token with this number, unless the bucket has already regained it.
    mutating func giveBack(_ number: UInt64) {
        guard let index = takes.firstIndex(where: { $0.number == number }) else { return }
        takes.remove(at: index)
        full = fullAgain(after: takes[...])
    }

    private func fullAgain(after takes: ArraySlice<(number: UInt64, at: Int128)>) -> Int128 {
        takes.reduce(fullWithoutTakes) { max($0, $1.at) + interval }
    }
}
