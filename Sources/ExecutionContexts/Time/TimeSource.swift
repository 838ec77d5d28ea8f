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
