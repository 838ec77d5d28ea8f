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
