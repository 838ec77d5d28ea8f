extension ExecutionContext {
    /// A view of this context on which at most `capacity` pieces of work wait; `overflow` decides beyond that.
    ///
    /// A piece waits from its submission until it starts. Delayed work was accepted when it was scheduled, and
    /// enters when it is due whether there is room or not; so does the turn of a view over this one, which
    /// stands for work that the view has accepted. A capacity below 1 stops the program, and so does a
    /// policy that would break the order of a context that turns out to be serial or to keep barriers (law 8).
    public func bounded(_ capacity: Int, overflow: Overflow) -> some RefusingContext {
        switch overflow.kind {
        case .callerRuns where self is any BarrierContext:
            stopMisuse(
                "Over '\(name)', which keeps an order, the overflow policy callerRuns would run work beside the "
                    + "piece that is running (laws 2, 3, 8). Choose refuse or wait.")
        case .dropOldest where self is any BarrierContext && !(self is any SerialContext):
            stopMisuse(
                "Over '\(name)', which keeps barriers, the overflow policy dropOldest would carry work past a "
                    + "barrier (laws 3, 8). Choose refuse or wait.")
        default: return Bounded(self, capacity, overflow)
        }
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

    @available(
        *, unavailable,
        message: "On this context callerRuns, or dropOldest if it is not serial, would break order (law 8)"
    )
    public func bounded(_ capacity: Int, overflow: Overflow) -> some RefusingContext {
        Bounded(self, capacity, overflow)
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

    func execute(_ work: @escaping Work) { view.execute(work) }

    func execute(_ work: @escaping Work, refused: @escaping @Sendable (Refusal) -> Void) {
        view.execute(work, refused: refused)
    }

    func enqueue(_ work: @escaping Work) { view.enqueue(work) }

    func tryExecute(_ work: @escaping Work) throws(Refusal) { try view.tryExecute(work) }
}

extension Bounded: BarrierContext where Base: BarrierContext {
    func executeBarrier(_ work: @escaping Work) {
        switch self {
        case .counted(let view): view.executeBarrier(work)
        // Only over a serial base, where each piece is a barrier.
        case .dropping(let view): view.execute(work)
        }
    }
}

extension Bounded: SerialContext where Base: SerialContext {}
