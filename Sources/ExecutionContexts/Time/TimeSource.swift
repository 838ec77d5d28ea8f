internal import CPlatform

/// A clock and its alarm: what a context needs to be able to wait (law 7).
///
/// `SystemTime.shared` is real time. A source of your own needs a `now` that never goes back and
/// two methods. It decides when a delay is due and calls `fire()` on it, in the order of
/// `(deadline, addition)`.
public protocol TimeSource: AnyObject, Sendable {
    /// The present instant.
    var now: ContextInstant { get }

    /// Which time this is: instants of sources with equal identities can be compared.
    ///
    /// The default is the source itself.
    var identity: ObjectIdentifier { get }

    /// Takes a delay and calls `fire()` on it once, when `now` has reached its deadline and not
    /// before.
    ///
    /// `tolerance` is how much later it may be called, so that several delays can share one
    /// wake-up. A delay whose deadline is `.never` need not be kept.
    func add(_ delay: DelayedWork, tolerance: Duration)

    /// Releases a delay that was cancelled, and all that it holds.
    func remove(_ delay: DelayedWork)
}

extension TimeSource {
    public var identity: ObjectIdentifier { ObjectIdentifier(self) }
}

/// Deadlines of waits: points of the monotonic clock at which a waiter gives up (law 15).
@usableFromInline
enum TimeLimit {
    /// Zero and negative mean not to wait at all. A limit beyond 292 years means no limit.
    @usableFromInline
    static func after(_ duration: Duration?) -> Int64 {
        guard let duration else { return Parker.never }
        guard duration > .zero else { return .min }
        return unsafe SimulationHooks.now(Threads.current).addingSaturating(
            duration.saturatedNanoseconds)
    }

    /// The limit in seconds, where infinity means no limit. Traps if `seconds` is NaN.
    @usableFromInline
    static func checked(seconds: Double, fileID: StaticString, line: UInt) -> Duration {
        require(
            !seconds.isNaN,
            "\(fileID):\(line): a time limit of NaN seconds has no meaning (law 15). "
                + "Pass a number, or infinity for no limit.")
        return Duration.saturating(seconds: seconds, fileID: fileID, line: line)
    }
}

/// A point in the time of a context, in nanoseconds since a start that its time source chooses.
///
/// Instants can be compared if their sources have the same identity. Arithmetic saturates, it does
/// not trap (law 7).
public struct ContextInstant: InstantProtocol, Hashable, Sendable, CustomStringConvertible {
    /// Nanoseconds since the start.
    public var nanoseconds: Int64

    /// Makes the instant that many nanoseconds after the start.
    public init(nanoseconds: Int64) { self.nanoseconds = nanoseconds }

    /// The instant that never comes.
    public static let never = ContextInstant(nanoseconds: .max)

    public static func < (left: ContextInstant, right: ContextInstant) -> Bool {
        left.nanoseconds < right.nanoseconds
    }

    /// The instant `duration` later, or `.never` where that is beyond 292 years.
    public func advanced(by duration: Duration) -> ContextInstant {
        ContextInstant(nanoseconds: nanoseconds.addingSaturating(duration.saturatedNanoseconds))
    }

    /// How long it is from this instant to another one.
    public func duration(to other: ContextInstant) -> Duration {
        .nanoseconds(other.nanoseconds.addingSaturating(0 - max(nanoseconds, -.max)))
    }

    /// The time since the start, as a `Duration` shows it, or `never`.
    public var description: String {
        self == .never ? "never" : "\(Duration.nanoseconds(nanoseconds))"
    }
}

extension Int64 {
    /// The sum, or the end of the range where it lies beyond.
    package func addingSaturating(_ other: Int64) -> Int64 {
        let (sum, overflow) = addingReportingOverflow(other)
        return overflow ? (other < 0 ? .min : .max) : sum
    }

    func multipliedSaturating(by other: Int64) -> Int64 {
        let (product, overflow) = multipliedReportingOverflow(by: other)
        return overflow ? ((self < 0) == (other < 0) ? .max : .min) : product
    }
}

extension Duration {
    /// The duration in whole nanoseconds, rounded up so that no delay is early, clamped to 292
    /// years.
    var saturatedNanoseconds: Int64 {
        let perNanosecond: Int64 = 1_000_000_000
        // Up to nine seconds fit one word. Up to 584 years take one division instruction.
        if let short = Int64(exactly: attoseconds) {
            let (quotient, rest) = short.quotientAndRemainder(dividingBy: perNanosecond)
            return rest > 0 ? quotient + 1 : quotient
        }
        let high = Int64(truncatingIfNeeded: attoseconds >> 64)
        guard high >= 0 else { return Int64(clamping: attoseconds / Int128(perNanosecond)) }
        guard high < perNanosecond else { return .max }
        let (quotient, rest) = UInt64(perNanosecond).dividingFullWidth(
            (UInt64(high), UInt64(truncatingIfNeeded: attoseconds)))
        return Int64(clamping: rest > 0 && quotient < .max ? quotient + 1 : quotient)
    }

    /// A duration from seconds, for the functions that take them; infinity lasts for ever. Traps if
    /// `seconds` is NaN (law 7).
    ///
    /// The standard library's own conversion traps on what does not fit.
    package static func saturating(seconds: Double, fileID: StaticString, line: UInt) -> Duration {
        require(
            !seconds.isNaN,
            "\(fileID):\(line): a delay of NaN seconds means nothing (law 7). "
                + "Pass a number, or infinity for never.")
        let nanoseconds = (seconds * 1e9).rounded(.up)
        if nanoseconds >= 0x1p63 { return .nanoseconds(Int64.max) }
        return .nanoseconds(nanoseconds < -0x1p63 ? Int64.min : Int64(nanoseconds))
    }
}
