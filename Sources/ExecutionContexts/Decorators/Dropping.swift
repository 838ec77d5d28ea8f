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
    private let line = Guarded(DroppingQueue())

    init(base: Base, capacity: Int, notify: @escaping @Sendable (Refusal) -> Void) {
        self.base = base
        self.capacity = capacity
        self.notify = notify
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
    /// both enter above the capacity, and are not dropped.
    func enqueue(_ work: consuming @escaping Work) {
        let work = LooseWork(bound(consume work))
        line.withLock { $0.accept(work.assembled()) }
        requestDrainElsewhere(on: base)
    }

    private func admit(_ piece: consuming DroppedLater) {
        // Moved, so that it is freed where it runs, and not here (law 10).
        var piece: DroppedLater? = consume piece
        let dropped = line.withLock { line in
            let dropped = line.droppable < capacity ? nil : line.dropFirst()
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

/// The jobs that wait, in order. Those that have been accepted are not counted, and not dropped.
private struct DroppingQueue: ~Copyable {
    private var jobs = FIFO<Numbered>()
    private var accepted = FIFO<Numbered>()
    private var last = 0

    private struct Numbered {
        let number: Int
        let job: DroppedLater
    }

    /// How many may be dropped.
    var droppable: Int { jobs.count }

    mutating func append(_ job: DroppedLater) {
        last += 1
        jobs.append(Numbered(number: last, job: job))
    }

    mutating func accept(_ work: @escaping Work) {
        last += 1
        accepted.append(Numbered(number: last, job: DroppedLater(work: work)))
    }

    mutating func dropFirst() -> DroppedLater? { jobs.popFirst()?.job }

    mutating func popFirst() -> DroppedLater? {
        let isAcceptedFirst = (accepted.first?.number ?? .max) < (jobs.first?.number ?? .max)
        return isAcceptedFirst ? accepted.popFirst()?.job : jobs.popFirst()?.job
    }
}

/// A job that waits.
private struct DroppedLater: Sendable {
    let work: Work
    /// Called if the job will not run; nil for plain submissions.
    var refused: (@Sendable (Refusal) -> Void)?
}
