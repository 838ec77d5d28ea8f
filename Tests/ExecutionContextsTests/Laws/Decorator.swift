import ExecutionContexts
import ExecutionContextsObservation
import Testing

/// A method that makes a view of a context, called with the static type of the base.
struct Decorator: Sendable, CustomTestStringConvertible {
    let name: String
    /// What the view is called; nil for the name of its base.
    let viewName: String?
    /// Returns the view, or nil where the method does not exist for that base.
    let apply: @Sendable (any ExecutionContext) -> (any ExecutionContext)?

    var testDescription: String { name }

    init(
        _ name: String, viewName: String? = nil,
        _ apply: @escaping @Sendable (any ExecutionContext) -> (any ExecutionContext)?
    ) {
        (self.name, self.viewName) = (name, viewName)
        self.apply = apply
    }

    @TaskLocal static var local = 0
    static let threadLocal = ThreadLocalValue<Int>()

    static let all: [Decorator] =
        [serial, limited, barrier, refusing, dropping, waiting, callerRuns, whileValid] + additions

    /// Those that only add something to jobs, so that the view keeps each power of its base.
    static let additions: [Decorator] = [
        adding("inline if current") { .inlineIfCurrent },
        adding("propagating") { .propagating($local) },
        adding("binding") { .binding(threadLocal, to: 1) },
        adding("named", viewName: "another name") { .named("another name") },
        adding("intercepted") { Interception { $0() } },
        adding("observed") { .observed(by: Recorder(capacity: 64)) },
        adding("watched") { Watching(limit: .seconds(600)) { _ in } },
        adding("a user's addition") { Tallying() },
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

    static let whileValid = Decorator("while valid") { base in
        let token = InvalidationToken()
        if let base = base as? any SerialContext { return base.valid(while: token) }
        if let base = base as? any BarrierContext { return base.valid(while: token) }
        return base.valid(while: token)
    }

    /// Each of the methods for a stored context.
    private static func adding<Addition: ContextAddition>(
        _ name: String, viewName: String? = nil,
        _ addition: @escaping @Sendable () -> Addition
    ) -> Decorator {
        Decorator(name, viewName: viewName) { base in
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
