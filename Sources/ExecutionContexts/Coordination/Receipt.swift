/// The proof of a registration, which lasts as long as this does.
///
/// Keep it in a property of whoever registered: a local variable may go after its last use, not at the end of its scope.
/// Letting go of the last reference deregisters, and so does `deregister()`.
public final class Receipt: Sendable {
    private let registration: any Registration

    init(_ registration: any Registration) { self.registration = registration }

    deinit { registration.end() }

    /// Ends the registration; does nothing if it has ended.
    ///
    /// The registrant is not visited again by an iteration on this thread. It does not wait for one that is visiting it
    /// on another thread right now.
    public func deregister() { registration.end() }

    /// Whether the registration lasts: false after deregistering, and when the registry is gone.
    public var isRegistered: Bool { registration.isActive }
}
