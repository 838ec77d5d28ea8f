internal import Synchronization

/// A cell that waits for the time of a context, or for a turn on it, beside its source.
class Timed: AsyncCell, @unchecked Sendable {
    // Unchecked because it can be inherited from. The alarm changes while the cell is locked and pending; afterwards it
    // belongs to whoever ended it.
    private let name: StaticString
    private var alarm: DelayedWork?

    init(_ name: StaticString) {
        self.name = name
        super.init()
    }

    /// A step's own cell, which is one of these. A step that captured it would keep it alive.
    static func of(_ cell: AsyncCell) -> Self { unsafe unsafeDowncast(cell, to: Self.self) }

    /// Has `body` called on `context` when `delay` has passed, unless this has ended by then.
    final func wake(
        after delay: Duration, on context: some ExecutionContext, _ body: @escaping Work
    ) {
        let call = Call(of: self, on: context.name, body)
        let alarm = context.schedule(after: delay) { call.make() }
        if lockIfPending() {
            self.alarm = alarm
            unlock()
        } else {
            alarm.cancel()
        }
    }

    /// Has `body` called on `context`.
    final func hop(to context: some ExecutionContext, _ body: @escaping Work) {
        let call = Call(of: self, on: context.name, body)
        context.execute({ call.make() }, refused: { call.refuse($0) })
    }

    override func didEnd() { alarm.take()?.cancel() }

    override final var label: String { "\(name)" }

    /// What the context gets. If it refuses the call or lets go of it, the cell ends and says so (law 1).
    private final class Call: Sendable {
        private let cell: Timed
        private let context: String
        private let body: Work
        private let isMade = Atomic<Bool>(false)

        init(of cell: Timed, on context: String, _ body: @escaping Work) {
            self.cell = cell
            self.context = context
            self.body = body
        }

        deinit { refuse(Refusal(.abandoned, by: context)) }

        func make() { if claim(), cell.isPending { body() } }

        func refuse(_ refusal: Refusal) { if claim() { cell.giveUp(refusal) } }

        // Relaxed: only that it happens once matters; the body is constant.
        private func claim() -> Bool { !isMade.exchange(true, ordering: .relaxed) }
    }
}
