extension ExecutionContext {
    /// A view of this context on which at most `capacity` pieces of work wait; `overflow` decides beyond that.
    ///
    /// A piece waits from its submission until it starts. Delayed work was accepted when it was scheduled, and
    /// enters when it is due whether there is room or not; so does the turn of a view over this one, which
    /// stands for work that the view has accepted. A capacity below 1 traps with a message, and so does a policy that
    /// would break the order of a context that turns out to be serial or to keep barriers (law 8).
    @_disfavoredOverload
    public func bounded(_ capacity: Int, overflow: Overflow) -> some RefusingContext {
        Bounded(checking: self, capacity, overflow)
    }
}

extension BarrierContext {
    /// A view of this context on which at most `capacity` pieces of work wait; `overflow` decides beyond that.
    ///
    /// Barriers count too, and keep their place among the rest.
    public func bounded(
        _ capacity: Int, overflow: BarrierOverflow
    ) -> some BarrierContext & RefusingContext {
        Bounded(self, capacity, overflow.policy)
    }

    /// A warning where a policy is written that this context cannot keep; the view traps with a message when it is made.
    @available(
        *, deprecated,
        message: "callerRuns, or dropOldest if the context is not serial, breaks order (law 8) and traps"
    )
    @_disfavoredOverload
    public func bounded(_ capacity: Int, overflow: Overflow) -> some RefusingContext {
        Bounded(checking: self, capacity, overflow)
    }
}

extension SerialContext {
    /// A view of this context on which at most `capacity` pieces of work wait; `overflow` decides beyond that.
    ///
    /// What is accepted runs one at a time and in order, as on this context.
    public func bounded(
        _ capacity: Int, overflow: SerialOverflow
    ) -> some SerialContext & RefusingContext {
        Bounded(self, capacity, overflow.policy)
    }
}

/// One of the two kinds of bounded view, behind one type.
enum Bounded<Base: ExecutionContext>: ContextDecorator, RefusingContext {
    case counted(Counted<Base>)
    case dropping(Dropping<Base>)

    init(_ base: Base, _ capacity: Int, _ overflow: Overflow) {
        require(
            capacity >= 1,
            "A view of '\(base.name)' with room for \(capacity) pieces would refuse everything (law 1). "
                + "The capacity must be 1 or more.")
        func counted(_ kind: Counted<Base>.Kind) -> Self {
            .counted(Counted(base: base, capacity: capacity, overflow: kind))
        }
        switch overflow.kind {
        case .refuse: self = counted(.refuse)
        case .callerRuns: self = counted(.callerRuns)
        case .wait: self = counted(.wait)
        case .dropOldest(let notify):
            self = .dropping(Dropping(base: base, capacity: capacity, notify: notify))
        }
    }

    /// The view of a context that may turn out to be serial or to keep barriers.
    init(checking base: Base, _ capacity: Int, _ overflow: Overflow) {
        switch overflow.kind {
        case .callerRuns where base is any BarrierContext:
            stopMisuse(
                "Over '\(base.name)', which keeps an order, the overflow policy callerRuns would run work beside the "
                    + "piece that is running (laws 2, 3, 8). Choose refuse or wait.")
        case .dropOldest where base is any BarrierContext && !(base is any SerialContext):
            stopMisuse(
                "Over '\(base.name)', which keeps barriers, the overflow policy dropOldest would carry work past a "
                    + "barrier (laws 3, 8). Choose refuse or wait.")
        default: self.init(base, capacity, overflow)
        }
    }

    var base: Base {
        switch self {
        case .counted(let view): view.base
        case .dropping(let view): view.base
        }
    }

    // It counts what it lets start.
    var runsAnywhere: Bool { false }

    private var view: any RefusingContext {
        switch self {
        case .counted(let view): view
        case .dropping(let view): view
        }
    }

    func execute(_ work: consuming @escaping Work) { view.execute(consume work) }

    func execute(_ work: consuming @escaping Work, refused: @escaping @Sendable (Refusal) -> Void) {
        view.execute(consume work, refused: refused)
    }

    func enqueue(_ work: consuming @escaping Work) { view.enqueue(consume work) }

    func tryExecute(_ work: consuming @escaping Work) throws(Refusal) { try view.tryExecute(consume work) }
}

extension Bounded: BarrierContext where Base: BarrierContext {
    func executeBarrier(_ work: consuming @escaping Work) {
        switch self {
        case .counted(let view): view.executeBarrier(consume work)
        // Only over a serial base, where each piece is a barrier.
        case .dropping(let view): view.execute(consume work)
        }
    }
}

extension Bounded: SerialContext where Base: SerialContext {}
