/// Lets only so many pieces wait, and drops the oldest for a newer one.
///
/// The view keeps the pieces and gives its base one ticket for each. Whichever ticket comes runs the oldest
/// piece, and a new piece inherits the ticket of the one it replaces, so that dropped pieces leave nothing
/// behind on the base. That is why a barrier context has no such view: a ticket from before a barrier would
/// carry a newer piece past it.
final class Dropping<Base: ExecutionContext>: DrainedView, ContextDecorator, RefusingContext,
    @unchecked Sendable  // See below.
{
    // Unchecked for the superclass only: everything here is a sendable constant.
    let base: Base
    private let capacity: Int
    private let notify: @Sendable (Refusal) -> Void
    private let line: Guarded<FIFO<DroppedLater>>

    init(base: Base, capacity: Int, notify: @escaping @Sendable (Refusal) -> Void) {
        self.base = base
        self.capacity = capacity
        self.notify = notify
        line = Guarded(FIFO())
        super.init(over: Base.self)
    }

    func execute(_ work: consuming @escaping Work) {
        admit(DroppedLater(work: bound(consume work)))
    }

    func execute(_ work: consuming @escaping Work, refused: @escaping @Sendable (Refusal) -> Void) {
        admit(DroppedLater(work: bound(consume work), refused: refused))
    }

    /// Never throws: there is room for the newest. It may be dropped later, and `notify` then says so.
    func tryExecute(_ work: consuming @escaping Work) throws(Refusal) { execute(consume work) }

    /// Work whose delay is due was accepted when it was scheduled, and the turn of a view when its work was:
    /// both enter above the capacity too.
    func enqueue(_ work: consuming @escaping Work) {
        let work = LooseWork(bound(consume work))
        line.withLock { $0.append(DroppedLater(work: work.assembled())) }
        requestDrainElsewhere(on: base)
    }

    private func admit(_ piece: consuming DroppedLater) {
        // Moved, so that it is freed where it runs, and not here (law 10).
        var piece: DroppedLater? = consume piece
        let dropped = line.withLock { line in
            let dropped = line.count < capacity ? nil : line.popFirst()
            if let piece = piece.take() { line.append(piece) }
            return dropped
        }
        guard let dropped else { return requestDrain(on: base) }
        (dropped.refused ?? notify)(Refusal(.droppedForNewer, by: name))
    }

    /// Runs the oldest piece; the base has given a ticket back.
    override func drain() { line.withLock { $0.popFirst() }?.work() }

    override func drainWasLost() {
        line.withLock { $0.popFirst() }?.refused?(Refusal(.abandoned, by: name))
    }
}

extension Dropping: BarrierContext where Base: SerialContext {
    func executeBarrier(_ work: consuming @escaping Work) { execute(consume work) }
}

extension Dropping: SerialContext where Base: SerialContext {}

/// A job that waits.
private struct DroppedLater: Sendable {
    let work: Work
    /// Called if the job will not run; nil for plain submissions.
    var refused: (@Sendable (Refusal) -> Void)?
}
