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
        propagating, binding, named, intercepted, observed, watched,
    ]

    static let serial = Decorator("serial") { $0.serial(named: "serial view") }

    static let limited = Decorator("limited") { $0.limited(to: 2) }

    static let barrier = Decorator("barrier") { base in
        if let base = base as? any SerialContext { return base.barrier() }
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

    static let inlineIfCurrent = Decorator("inline if current") { base in
        if let base = base as? any SerialContext { return base.inlineIfCurrent() }
        if let base = base as? any BarrierContext { return base.inlineIfCurrent() }
        return base.inlineIfCurrent()
    }

    static let whileValid = Decorator("while valid") { base in
        let token = InvalidationToken()
        if let base = base as? any SerialContext { return base.valid(while: token) }
        if let base = base as? any BarrierContext { return base.valid(while: token) }
        return base.valid(while: token)
    }

    static let propagating = Decorator("propagating") { base in
        if let base = base as? any SerialContext { return base.propagating($local) }
        if let base = base as? any BarrierContext { return base.propagating($local) }
        return base.propagating($local)
    }

    static let binding = Decorator("binding") { base in
        if let base = base as? any SerialContext { return base.binding(threadLocal, to: 1) }
        if let base = base as? any BarrierContext { return base.binding(threadLocal, to: 1) }
        return base.binding(threadLocal, to: 1)
    }

    static let named = Decorator("named") { base in
        if let base = base as? any SerialContext { return base.named("another name") }
        if let base = base as? any BarrierContext { return base.named("another name") }
        return base.named("another name")
    }

    static let intercepted = Decorator("intercepted") { base in
        if let base = base as? any SerialContext { return base.intercepted { $0() } }
        if let base = base as? any BarrierContext { return base.intercepted { $0() } }
        return base.intercepted { $0() }
    }

    static let observed = Decorator("observed") { base in
        let recorder = Recorder(capacity: 64)
        if let base = base as? any SerialContext { return base.observed(by: recorder) }
        if let base = base as? any BarrierContext { return base.observed(by: recorder) }
        return base.observed(by: recorder)
    }

    static let watched = Decorator("watched") { base in
        if let base = base as? any SerialContext {
            return base.watched(limit: .seconds(600)) { _ in }
        }
        if let base = base as? any BarrierContext {
            return base.watched(limit: .seconds(600)) { _ in }
        }
        return base.watched(limit: .seconds(600)) { _ in }
    }
}

/// Receives every notification and does nothing.
struct NoObserver: ContextObserver {
    func finished(_ job: ObservedWork, waited: Duration, ran: Duration) {}
}
