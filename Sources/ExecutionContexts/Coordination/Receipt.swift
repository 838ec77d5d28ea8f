/// A registration, which lasts as long as its receipt.
///
/// Keep the receipt in a property of the object that registered: a local variable may be released
/// after its last use, not at the end of its scope. Releasing the last reference deregisters, and
/// so does `deregister()`.
public final class Receipt: Sendable {
    private let registration: any Registration

    init(_ registration: any Registration) { self.registration = registration }

    deinit { registration.end() }

    /// Ends the registration; does nothing if it has ended.
    ///
    /// An iteration on this thread does not visit the registrant again. The call does not wait for
    /// an iteration that is visiting it on another thread.
    public func deregister() { registration.end() }

    /// Whether the registration lasts: false after deregistering, and after the registry is gone.
    public var isRegistered: Bool { registration.isActive }
}
