extension ExecutionContext {
    /// Returns a view of this context with at most `capacity` waiting jobs; `overflow` decides
    /// beyond.
    ///
    /// A job waits from its submission until it starts. Two kinds of job enter above the capacity,
    /// because they were accepted before:
    /// - a delayed job that is due, accepted when it was scheduled;
    /// - a drain of a view over this one, which stands for jobs that the other view has accepted.
    ///
    /// A capacity below 1 traps with a message. So does a policy that would break the order of a
    /// context that turns out, at run time, to be serial or to keep barriers (law 8).
    @_disfavoredOverload
    public func bounded(to capacity: Int, overflow: Overflow) -> BoundedView {
        overflow.checkOrder(of: self)
        overflow.checkCapacity(capacity, of: self)
        if case .dropOldest(let notify) = overflow.kind {
            return BoundedView(DroppingView(base: self, capacity: capacity, notify: notify))
        }
        return BoundedView(CountedView(base: self, capacity: capacity, overflow: overflow))
    }
}

extension BarrierContext {
    /// Returns a view of this context with at most `capacity` waiting jobs; `overflow` decides
    /// beyond.
    ///
    /// Barriers count as well, and keep their position in the order of submission.
    public func bounded(to capacity: Int, overflow: BarrierOverflow) -> BoundedBarrierView {
        overflow.policy.checkCapacity(capacity, of: self)
        return BoundedBarrierView(
            ordered: CountedView(base: self, capacity: capacity, overflow: overflow.policy))
    }

    /// Warns about a policy that this context cannot keep; making the view traps with a message.
    @available(
        *, deprecated,
        message:
            "callerRuns, or dropOldest if the context is not serial, breaks order (law 8) and traps"
    )
    @_disfavoredOverload
    public func bounded(to capacity: Int, overflow: Overflow) -> BoundedView {
        let context: some ExecutionContext = self
        return context.bounded(to: capacity, overflow: overflow)
    }
}

extension SerialContext {
    /// Returns a view of this context with at most `capacity` waiting jobs; `overflow` decides
    /// beyond.
    ///
    /// Accepted jobs run one at a time and in order, as on this context.
    public func bounded(to capacity: Int, overflow: SerialOverflow) -> BoundedSerialView {
        bounded(to: capacity, overflow: overflow, as: BoundedSerialView.self)
    }

    fileprivate func bounded<View: BoundedSerialView>(
        to capacity: Int, overflow: SerialOverflow, as: View.Type
    ) -> View {
        overflow.policy.checkCapacity(capacity, of: self)
        if case .dropOldest(let notify) = overflow.policy.kind {
            return View(ordered: DroppingView(base: self, capacity: capacity, notify: notify))
        }
        return View(
            ordered: CountedView(base: self, capacity: capacity, overflow: overflow.policy))
    }
}

extension MainActorContext {
    /// Returns a view of this context with at most `capacity` waiting jobs; `overflow` decides
    /// beyond.
    ///
    /// Accepted jobs run one at a time and in order, as on this context.
    public func bounded(to capacity: Int, overflow: SerialOverflow) -> BoundedMainActorView {
        bounded(to: capacity, overflow: overflow, as: BoundedMainActorView.self)
    }
}

/// A view with at most so many waiting jobs: what `bounded(to:overflow:)` returns.
///
/// Its subclasses are the views of contexts that keep barriers, of serial ones, and of those of the
/// main actor.
public class BoundedView: RefusingContext, @unchecked Sendable {
    // Unchecked only because it can be inherited from: it has a Sendable constant.
    private let view: any RefusingContext

    init(_ view: some RefusingContext) { self.view = view }

    @_disfavoredOverload
    public final func execute(_ work: consuming @escaping Work) { view.execute(consume work) }

    public final func execute(
        _ work: consuming @escaping Work, refused: consuming @escaping @Sendable (Refusal) -> Void
    ) {
        view.execute(consume work, refused: consume refused)
    }

    public final func enqueue(_ work: consuming @escaping Work) { view.enqueue(consume work) }

    public final func tryExecute(_ work: consuming @escaping Work) throws(Refusal) {
        try view.tryExecute(consume work)
    }

    public final var isCurrent: Bool? { view.isCurrent }

    public final func checkIsCurrent() -> Bool { view.checkIsCurrent() }

    public final var submissionTransform: (@Sendable (_ work: @escaping Work) -> Work)? {
        view.submissionTransform
    }

    public final var time: any TimeSource { view.time }

    public final var name: String { view.name }

    public final var facts: ContextFacts { view.facts }
}

/// A bounded view of a context that keeps barriers.
public class BoundedBarrierView: BoundedView, BarrierContext, @unchecked Sendable {
    // Unchecked only because it can be inherited from: each property is a Sendable constant.
    private let barriers: any BarrierContext

    required init(ordered view: some BarrierContext & RefusingContext) {
        barriers = view
        super.init(view)
    }

    public final func executeBarrier(_ work: consuming @escaping Work) {
        barriers.executeBarrier(consume work)
    }
}

/// A bounded view of a serial context.
public class BoundedSerialView: BoundedBarrierView, SerialContext, @unchecked Sendable {
    // Unchecked because its superclass is; it adds nothing.
}

/// A bounded view of a context of the main actor.
public final class BoundedMainActorView: BoundedSerialView, MainActorContext, @unchecked Sendable {
    // Unchecked because its superclass is; it adds nothing.
}

extension Overflow {
    fileprivate func checkCapacity(_ capacity: Int, of base: some ExecutionContext) {
        require(
            capacity >= 1,
            "A view of '\(base.name)' with a capacity of \(capacity) would refuse every job (law 1). "
                + "The capacity must be 1 or more.")
    }

    /// Traps if the policy would break the order of a context that turns out to keep one.
    fileprivate func checkOrder(of base: some ExecutionContext) {
        switch kind {
        case .callerRuns where base is any BarrierContext:
            stopMisuse(
                "Over '\(base.name)', which keeps an order, the overflow policy callerRuns would run a job beside the "
                    + "running job (laws 2, 3, 8). Choose refuse or wait.")
        case .dropOldest where base is any BarrierContext && !(base is any SerialContext):
            stopMisuse(
                "Over '\(base.name)', which keeps barriers, the overflow policy dropOldest would carry a job past a "
                    + "barrier (laws 3, 8). Choose refuse or wait.")
        default: break
        }
    }
}
