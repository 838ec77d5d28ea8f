/// A registration in a registry, which lasts as long as this object is kept.
///
/// Keep it in a property of the object that registered: a local variable may be released after its
/// last use, not at the end of its scope. Releasing the last reference deregisters, and so does
/// `deregister()`.
public final class Registration: Sendable {
    private let member: any RegisteredMember

    init(_ member: any RegisteredMember) { self.member = member }

    deinit { member.end() }

    /// Ends the registration; does nothing if it has ended.
    ///
    /// An iteration on this thread does not visit the registrant again. The call does not wait for
    /// an iteration that is visiting it on another thread.
    public func deregister() { member.end() }

    /// Whether the registration lasts: false after deregistering, and after the registry is gone.
    public var isRegistered: Bool { member.isActive }
}

/// A member as its registration sees it, whatever the type of the registrant.
protocol RegisteredMember: AnyObject, Sendable {
    var isActive: Bool { get }
    func end()
}

/// One registered object, until its registration ends.
final class Member<Registrant: Sendable>: RegisteredMember {
    let number: UInt64
    private let content: Guarded<Content?>

    private struct Content {
        let registrant: Registrant
        let hook: (@Sendable () -> Void)?
        weak var registry: Registry<Registrant>?
    }

    init(
        _ number: UInt64, _ registrant: Registrant, _ registry: Registry<Registrant>,
        _ hook: (@Sendable () -> Void)?
    ) {
        self.number = number
        content = Guarded(Content(registrant: registrant, hook: hook, registry: registry))
    }

    var registrant: Registrant? { content.withLock { $0?.registrant } }

    var isActive: Bool { content.withLock { $0 != nil } }

    func end() {
        // One caller takes the content, and frees it after unlocking.
        guard let content = content.withLock({ content in content.take() }) else { return }
        content.registry?.remove(number)
        content.hook?()
        // A registrant may have the last reference to the next registration.
        Freeing.free(consume content)
    }
}
