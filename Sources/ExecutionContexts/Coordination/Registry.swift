/// An ordered set of registrants, such as listeners: each lasts as long as its registration.
///
/// ```swift
/// let listeners = Registry<@Sendable (String) -> Void>()
/// let registration = listeners.register { event in print(event) }
/// listeners("started")
/// registration.deregister()
/// ```
///
/// An iteration is equivalent to one over an array that was copied when it began, skipping
/// registrants whose registration has ended meanwhile, on any thread. So a callback may register
/// and deregister: a registrant added during an iteration is not visited by it, and neither is one
/// that was removed before its visit.
///
/// - Lifetimes: a registration ends when it is released, when it is deregistered, or when the
///   registry is released, whichever is first; the registrant is released then. Neither of registry
///   and registration keeps the other alive (law 10).
/// - The hook given to `register` is called once, when the registration ends, on the thread that
///   ends it.
/// - No user code is called or released under a lock (law 9).
/// - Threads: all methods may be called from any thread. Deregistering does not wait for a visit
///   that another thread has begun.
///
/// It is not for a stream of values that a subscriber takes at its own pace: give each subscriber
/// an `AsyncStream`, and register its continuation here with `finish` as the hook. It is not for
/// one answer to many callers: that is an `Async`.
public final class Registry<Registrant: Sendable>: Sendable {
    private let members = Guarded(Members())

    private struct Members {
        /// In the order of their numbers.
        var all: [Member<Registrant>] = []
        var nextNumber: UInt64 = 0

        /// The index of a number, or the index at which it would be inserted.
        func index(of number: UInt64) -> Int {
            var (low, high) = (0, all.count)
            while low < high {
                let middle = (low + high) / 2
                if all[middle].number < number { low = middle + 1 } else { high = middle }
            }
            return low
        }
    }

    /// Makes a registry without registrants.
    public init() {}

    deinit {
        for member in snapshot { member.end() }
    }

    /// Registers `registrant` behind all others, for as long as the registration is kept.
    ///
    /// A registration that is not kept deregisters at once.
    public func register(_ registrant: Registrant) -> Registration { add(registrant, nil) }

    // Two methods, not one with a default: the closure in `register { ... }` would be the hook.
    /// Registers `registrant` behind all others; calls `onDeregister` once, when it ends.
    public func register(
        _ registrant: Registrant, onDeregister: @escaping @Sendable () -> Void
    ) -> Registration { add(registrant, onDeregister) }

    private func add(_ registrant: Registrant, _ hook: (@Sendable () -> Void)?) -> Registration {
        let member = members.withLock { members in
            let member = Member(members.nextNumber, registrant, self, hook)
            members.nextNumber += 1
            members.all.append(member)
            return member
        }
        return Registration(member)
    }

    /// The current registrants, in the order of registration.
    public var registrants: [Registrant] { snapshot.compactMap(\.registrant) }

    /// Whether the registry has no registrants.
    public var isEmpty: Bool { members.withLock { $0.all.isEmpty } }

    /// Calls `body` with each registrant on the caller; an error that it throws ends the iteration.
    public func forEach<Failure: Error>(
        _ body: (Registrant) throws(Failure) -> Void
    ) throws(Failure) {
        try Self.visit(snapshot, body)
    }

    /// Calls `body` with each registrant, in order, in one job on `context`.
    ///
    /// It visits the registrants of this moment whose registration lasts until their visit.
    @_disfavoredOverload
    public func forEach(
        on context: some ExecutionContext, _ body: @escaping @Sendable (Registrant) -> Void
    ) {
        let snapshot = snapshot
        // The job keeps the registry, too: without it the registrations would end.
        context.execute { withExtendedLifetime(self) { Self.visit(snapshot, body) } }
    }

    private var snapshot: [Member<Registrant>] { members.withLock { $0.all } }

    private static func visit<Failure: Error>(
        _ members: [Member<Registrant>], _ body: (Registrant) throws(Failure) -> Void
    ) throws(Failure) {
        for member in members {
            if let registrant = member.registrant { try body(registrant) }
        }
    }

    /// Removes a registrant whose registration has ended, and releases it after unlocking.
    func remove(_ number: UInt64) {
        _ = members.withLock { members -> Member<Registrant>? in
            let index = members.index(of: number)
            guard index < members.all.count, members.all[index].number == number else { return nil }
            return members.all.remove(at: index)
        }
    }
}

extension Registry {
    // The first two take closures of the main actor, which the general methods would not accept.
    /// Calls a closure of the main actor with each registrant, in order, in one job on `main`.
    public func forEach(
        on main: some MainActorContext, _ body: @escaping @MainActor @Sendable (Registrant) -> Void
    ) {
        forEach(on: main.general) { registrant in MainActor.assumeIsolated { body(registrant) } }
    }

    /// Calls each registered closure of the main actor with `event`, in order, in one job on
    /// `main`.
    public func callAsFunction<Event: Sendable>(_ event: Event, on main: some MainActorContext)
    where Registrant == @MainActor @Sendable (Event) -> Void {
        forEach(on: main) { $0(event) }
    }

    /// Calls each registered closure with `event` on the caller: `listeners("started")`.
    public func callAsFunction<Event>(_ event: Event)
    where Registrant == @Sendable (Event) -> Void {
        forEach { $0(event) }
    }

    /// Calls each registered closure with `event`, in order, in one job on `context`.
    public func callAsFunction<Event: Sendable>(_ event: Event, on context: some ExecutionContext)
    where Registrant == @Sendable (Event) -> Void {
        forEach(on: context) { $0(event) }
    }

    /// Calls each registered closure on the caller: `listeners()`.
    public func callAsFunction() where Registrant == @Sendable () -> Void {
        forEach { $0() }
    }

    /// Calls each registered closure, in order, in one job on `context`.
    public func callAsFunction(on context: some ExecutionContext)
    where Registrant == @Sendable () -> Void {
        forEach(on: context) { $0() }
    }
}

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
private final class Member<Registrant: Sendable>: RegisteredMember {
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
