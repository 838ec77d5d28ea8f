/// Lets only so many pieces wait on its base; an overflow policy decides about the rest.
///
/// The view keeps the pieces and gives its base one ticket for each, in the same order. Whichever ticket
/// comes runs the oldest piece, so a dropped piece leaves nothing behind on the base.
final class BoundedView<Base: ExecutionContext>: DrainedView, ContextDecorator, RefusingContext,
    @unchecked Sendable
{
    // Unchecked for the superclass only: everything here is a sendable constant.
    let base: Base
    private let capacity: Int
    private let overflow: Overflow.Kind
    private let line: Guarded<BoundedLine>

    init(base: Base, capacity: Int, overflow: Overflow) {
        precondition(
            capacity >= 1,
            "A view of '\(base.name)' with room for \(capacity) pieces would refuse everything (law 1). "
                + "The capacity must be 1 or more.")
        self.base = base
        self.capacity = capacity
        self.overflow = overflow.kind
        line = Guarded(BoundedLine(capacity: capacity))
        super.init(over: Base.self)
    }

    func execute(_ work: @escaping Work) {
        offer(BoundedLine.Piece(work: work), request: { requestDrain(on: base) })
    }

    func execute(_ work: @escaping Work, refused: @escaping @Sendable (Refusal) -> Void) {
        offer(BoundedLine.Piece(work: work, refused: refused), request: { requestDrain(on: base) })
    }

    func tryExecute(_ work: @escaping Work) throws(Refusal) {
        let piece = BoundedLine.Piece(work: work)
        switch overflow {
        case .refuse, .wait:
            guard line.withLock({ $0.append(piece) }) else { throw refusal(.full(capacity: capacity)) }
            requestDrain(on: base)
        case .callerRuns, .dropOldest:
            offer(piece, request: { requestDrain(on: base) })
        }
    }

    /// Work whose delay is due was accepted when it was scheduled: it enters above the capacity too.
    func enqueue(_ work: @escaping Work) {
        line.withLock { $0.appendAlways(BoundedLine.Piece(work: work)) }
        requestDrainElsewhere(on: base)
    }

    /// Takes a piece if there is room, or does with it what the policy says.
    private func offer(_ piece: BoundedLine.Piece, request: () -> Void) {
        if line.withLock({ $0.append(piece) }) { return request() }
        switch overflow {
        case .callerRuns:
            piece.work()
        case .dropOldest(let notify):
            // Between the two locks a piece may have started: then there is room after all.
            let (dropped, isNew) = line.withLock { $0.appendDroppingOldest(piece) }
            if isNew { request() }
            if let dropped { (dropped.refused ?? notify)(refusal(.droppedForNewer)) }
        case .wait where piece.refused != nil:
            if line.withLock({ $0.appendPatiently(piece) }) { request() }
        case .refuse, .wait:
            let refusal = refusal(.full(capacity: capacity))
            guard let refused = piece.refused else {
                preconditionFailure("\(refusal) Plain execute cannot be refused: use tryExecute or run.")
            }
            refused(refusal)
        }
    }

    /// Runs the oldest piece; the base has given a ticket back.
    override func drain() {
        let (piece, next) = line.withLock { $0.start() }
        if next { requestDrain(on: base) }
        piece?.work()
    }

    override func drainWasLost() {
        let (piece, next) = line.withLock { $0.start() }
        if next { requestDrain(on: base) }
        piece?.refused?(refusal(.abandoned))
    }

    private func refusal(_ reason: Refusal.Reason) -> Refusal { Refusal(reason, by: name) }
}

extension BoundedView: BarrierContext where Base: BarrierContext {
    func executeBarrier(_ work: @escaping Work) {
        offer(BoundedLine.Piece(work: work, isBarrier: true)) {
            let ticket = Ticket(self)
            base.executeBarrier { ticket.redeem() }
        }
    }
}

extension BoundedView: SerialContext where Base: SerialContext {}

extension ExecutionContext {
    /// A view of this context on which at most `capacity` pieces of work wait; `overflow` decides beyond that.
    ///
    /// A piece waits from its submission until it starts. Delayed work was accepted when it was scheduled, and
    /// enters when it is due whether there is room or not. A capacity below 1 is a precondition failure, and
    /// so is `.callerRuns` over a context that turns out to be serial (law 8).
    public func bounded(_ capacity: Int, overflow: Overflow) -> some RefusingContext {
        if case .callerRuns = overflow.kind, self is any SerialContext {
            preconditionFailure(
                "Over the serial context '\(name)' the overflow policy callerRuns would run work beside the "
                    + "piece that is running (laws 2, 8). Choose refuse, dropOldest or wait.")
        }
        return BoundedView(base: self, capacity: capacity, overflow: overflow)
    }
}

extension BarrierContext {
    /// A view of this context on which at most `capacity` pieces of work wait; `overflow` decides beyond that.
    ///
    /// Barriers wait in the same line and are never dropped, nor is what was submitted before one: where
    /// nothing younger waits, `dropOldest` drops the new piece.
    public func bounded(
        _ capacity: Int, overflow: OrderedOverflow
    ) -> some BarrierContext & RefusingContext {
        BoundedView(base: self, capacity: capacity, overflow: overflow.policy)
    }

    @available(*, unavailable, message: "callerRuns would break the order of a barrier context (law 8)")
    public func bounded(_ capacity: Int, overflow: Overflow) -> some RefusingContext {
        BoundedView(base: self, capacity: capacity, overflow: overflow)
    }
}

extension SerialContext {
    /// A view of this context on which at most `capacity` pieces of work wait; `overflow` decides beyond that.
    ///
    /// What is accepted runs one at a time and in order, as on this context.
    public func bounded(
        _ capacity: Int, overflow: OrderedOverflow
    ) -> some SerialContext & RefusingContext {
        BoundedView(base: self, capacity: capacity, overflow: overflow.policy)
    }
}
