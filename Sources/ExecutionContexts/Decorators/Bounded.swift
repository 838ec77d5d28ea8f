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
    @inlinable
    public func bounded(to capacity: Int, overflow: Overflow) -> some RefusingContext {
        Bounded(checking: self, capacity, overflow)
    }
}

extension BarrierContext {
    /// Returns a view of this context with at most `capacity` waiting jobs; `overflow` decides
    /// beyond.
    ///
    /// Barriers count as well, and keep their position in the order of submission.
    @inlinable
    public func bounded(
        to capacity: Int, overflow: BarrierOverflow
    ) -> some BarrierContext & RefusingContext {
        Bounded(self, capacity, overflow.policy)
    }

    /// Warns about a policy that this context cannot keep; making the view traps with a message.
    @available(
        *, deprecated,
        message:
            "callerRuns, or dropOldest if the context is not serial, breaks order (law 8) and traps"
    )
    @_disfavoredOverload
    @inlinable
    public func bounded(to capacity: Int, overflow: Overflow) -> some RefusingContext {
        Bounded(checking: self, capacity, overflow)
    }
}

extension SerialContext {
    /// Returns a view of this context with at most `capacity` waiting jobs; `overflow` decides
    /// beyond.
    ///
    /// Accepted jobs run one at a time and in order, as on this context.
    @inlinable
    public func bounded(
        to capacity: Int, overflow: SerialOverflow
    ) -> some SerialContext & RefusingContext {
        Bounded(self, capacity, overflow.policy)
    }
}

extension MainActorContext {
    /// Returns a view of this context with at most `capacity` waiting jobs; `overflow` decides
    /// beyond.
    ///
    /// Accepted jobs run one at a time and in order, as on this context.
    @inlinable
    public func bounded(
        to capacity: Int, overflow: SerialOverflow
    ) -> some MainActorContext & RefusingContext {
        Bounded(self, capacity, overflow.policy)
    }
}

/// One of the two kinds of bounded view, behind one type.
@usableFromInline
enum Bounded<Base: ExecutionContext>: ContextDecorator, RefusingContext {
    case counted(CountedView<Base>)
    case dropping(DroppingView<Base>)

    @usableFromInline
    init(_ base: Base, _ capacity: Int, _ overflow: Overflow) {
        require(
            capacity >= 1,
            "A view of '\(base.name)' with a capacity of \(capacity) would refuse every job (law 1). "
                + "The capacity must be 1 or more.")
        func counted(_ kind: CountedView<Base>.Kind) -> Self {
            .counted(CountedView(base: base, capacity: capacity, overflow: kind))
        }
        switch overflow.kind {
        case .refuse: self = counted(.refuse)
        case .callerRuns: self = counted(.callerRuns)
        case .wait: self = counted(.wait)
        case .dropOldest(let notify):
            self = .dropping(DroppingView(base: base, capacity: capacity, notify: notify))
        }
    }

    /// Makes the view of a context that may turn out to be serial or to keep barriers.
    @usableFromInline
    init(checking base: Base, _ capacity: Int, _ overflow: Overflow) {
        switch overflow.kind {
        case .callerRuns where base is any BarrierContext:
            stopMisuse(
                "Over '\(base.name)', which keeps an order, the overflow policy callerRuns would run a job beside the "
                    + "running job (laws 2, 3, 8). Choose refuse or wait.")
        case .dropOldest where base is any BarrierContext && !(base is any SerialContext):
            stopMisuse(
                "Over '\(base.name)', which keeps barriers, the overflow policy dropOldest would carry a job past a "
                    + "barrier (laws 3, 8). Choose refuse or wait.")
        default: self.init(base, capacity, overflow)
        }
    }

    @usableFromInline
    var base: Base {
        switch self {
        case .counted(let view): view.base
        case .dropping(let view): view.base
        }
    }

    // The view counts the jobs that it lets start.
    @usableFromInline
    var runsAnywhere: Bool { false }

    private var view: any RefusingContext {
        switch self {
        case .counted(let view): view
        case .dropping(let view): view
        }
    }

    @usableFromInline
    func execute(_ work: consuming @escaping Work) { view.execute(consume work) }

    @usableFromInline
    func execute(
        _ work: consuming @escaping Work, refused: consuming @escaping @Sendable (Refusal) -> Void
    ) {
        view.execute(consume work, refused: consume refused)
    }

    @usableFromInline
    func enqueue(_ work: consuming @escaping Work) { view.enqueue(consume work) }

    @usableFromInline
    func tryExecute(_ work: consuming @escaping Work) throws(Refusal) {
        try view.tryExecute(consume work)
    }
}

extension Bounded: BarrierContext where Base: BarrierContext {
    @usableFromInline
    func executeBarrier(_ work: consuming @escaping Work) {
        switch self {
        case .counted(let view): view.executeBarrier(consume work)
        // Only over a serial base, where each job is a barrier.
        case .dropping(let view): view.execute(consume work)
        }
    }
}

extension Bounded: SerialContext where Base: SerialContext {}
extension Bounded: MainActorContext where Base: MainActorContext {}
