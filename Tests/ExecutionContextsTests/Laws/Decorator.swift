import ExecutionContexts
import ExecutionContextsObservation
import Testing

/// A method that makes a view of a context, called with the static type of the base.
struct Decorator: Sendable, CustomTestStringConvertible {
    let name: String
    /// Returns the view, or nil where the method does not exist for that base.
    let apply: @Sendable (any ExecutionContext) -> (any ExecutionContext)?

    var testDescription: String { name }

    init(
        _ name: String,
        _ apply: @escaping @Sendable (any ExecutionContext) -> (any ExecutionContext)?
    ) {
        self.name = name
        self.apply = apply
    }

    @TaskLocal static var local = 0
    static let threadLocal = ThreadLocalValue<Int>()

    static let all: [Decorator] = [
        serial, limited, barrier, refusing, dropping, waiting, callerRuns, inlineIfCurrent,
        whileValid,
        propagating, binding, named, intercepted, observed, watched, users,
    ]

    static let serial = Decorator("serial") { $0.serial(named: "serial view") }

    static let limited = Decorator("limited") { $0.limited(to: 2) }

    static let barrier = Decorator("barrier") { base in
        func barrier(_ base: some SerialContext) -> any ExecutionContext { base.barrier() }
        if let base = base as? any SerialContext { return barrier(base) }
        return base.barrier()
    }

    static let refusing = Decorator("bounded refusing") { base in
        if let base = base as? any SerialContext {
            return base.bounded(to: 1000, overflow: .refuse)
        }
        if let base = base as? any BarrierContext {
            return base.bounded(to: 1000, overflow: .refuse)
        }
        return base.bounded(to: 1000, overflow: .refuse)
    }

    static let dropping = Decorator("bounded dropping") { base in
        if let base = base as? any SerialContext {
            return base.bounded(to: 1000, overflow: .dropOldest(notify: { _ in }))
        }
        if base is any BarrierContext { return nil }
        return base.bounded(to: 1000, overflow: .dropOldest(notify: { _ in }))
    }

    static let waiting = Decorator("bounded waiting") { base in
        if let base = base as? any SerialContext { return base.bounded(to: 1000, overflow: .wait) }
        if let base = base as? any BarrierContext { return base.bounded(to: 1000, overflow: .wait) }
        return base.bounded(to: 1000, overflow: .wait)
    }

    static let callerRuns = Decorator("bounded with the caller running") { base in
        base is any BarrierContext ? nil : base.bounded(to: 1000, overflow: .callerRuns)
    }

    static let inlineIfCurrent = adding("inline if current") { .inlineIfCurrent }

    static let whileValid = Decorator("while valid") { base in
        let token = InvalidationToken()
        if let base = base as? any SerialContext { return base.valid(while: token) }
        if let base = base as? any BarrierContext { return base.valid(while: token) }
        return base.valid(while: token)
    }

    static let propagating = adding("propagating") { .propagating($local) }

    static let binding = adding("binding") { .binding(threadLocal, to: 1) }

    static let named = adding("named") { .named("another name") }

    static let intercepted = adding("intercepted") { Interception { $0() } }

    static let observed = adding("observed") { .observed(by: Recorder(capacity: 64)) }

    static let watched = adding("watched") {
        Watching(limit: .seconds(600)) { _ in }
    }

    static let users = adding("a user's addition") { Tallying() }

    /// Each of the methods for a stored context.
    private static func adding<Addition: ContextAddition>(
        _ name: String, _ addition: @escaping @Sendable () -> Addition
    ) -> Decorator {
        Decorator(name) { base in
            if let base = base as? any ActorBackingContext { return base.with(addition()) }
            if let base = base as? any SerialContext { return base.with(addition()) }
            if let base = base as? any BarrierContext { return base.with(addition()) }
            return base.with(addition())
        }
    }
}

/// An addition such as a user would write.
struct Tallying: HoldableAddition {
    let count = Box(0)

    func decorate(_ work: @escaping Work) -> Work {
        {
            count.withValue { $0 += 1 }
            work()
        }
    }
}

/// Receives every notification and does nothing.
struct NoObserver: ContextObserver {
    func finished(_ job: ObservedWork, waited: Duration, ran: Duration) {}
}
