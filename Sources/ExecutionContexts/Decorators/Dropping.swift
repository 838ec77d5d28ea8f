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
    private let line: Guarded<DroppingLine>

    init(base: Base, capacity: Int, notify: @escaping @Sendable (Refusal) -> Void) {
        self.base = base
        self.capacity = capacity
        self.notify = notify
        line = Guarded(DroppingLine())
        super.init(over: Base.self)
    }

    func execute(_ work: @escaping Work) { admit(DroppingLine.Piece(work: bound(work))) }

    func execute(_ work: @escaping Work, refused: @escaping @Sendable (Refusal) -> Void) {
        admit(DroppingLine.Piece(work: bound(work), refused: refused))
    }

    /// Never throws: there is room for the newest. It may be dropped later, and `notify` then says so.
    func tryExecute(_ work: @escaping Work) throws(Refusal) { execute(work) }

    /// Work whose delay is due was accepted when it was scheduled, and the turn of a view when its work was:
    /// both enter above the capacity too.
    func enqueue(_ work: @escaping Work) {
        let work = bound(work)
        line.withLock { $0.append(DroppingLine.Piece(work: work)) }
        requestDrainElsewhere(on: base)
    }

    private func admit(_ piece: DroppingLine.Piece) {
        let dropped = line.withLock { line in
            let dropped = line.count < capacity ? nil : line.popFirst()
            line.append(piece)
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
    func executeBarrier(_ work: @escaping Work) { execute(work) }
}

extension Dropping: SerialContext where Base: SerialContext {}

/// The pieces that wait, oldest first.
private struct DroppingLine: ~Copyable {
    struct Piece: Sendable {
        let work: Work
        /// Who is told if the piece will not run; nil for plain submissions.
        var refused: (@Sendable (Refusal) -> Void)?
    }

    private var pieces: [Piece] = []
    private var oldest = 0

    var count: Int { pieces.count - oldest }

    mutating func append(_ piece: Piece) { pieces.append(piece) }

    mutating func popFirst() -> Piece? {
        guard count > 0 else { return nil }
        let piece = pieces[oldest]
        pieces[oldest] = Piece(work: {})
        oldest += 1
        if oldest > 32, oldest > pieces.count / 2 {
            pieces.removeFirst(oldest)
            oldest = 0
        }
        return piece
    }
}
