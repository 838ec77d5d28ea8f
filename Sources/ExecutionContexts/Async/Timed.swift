internal import Synchronization

/// A cell that waits for the time of a context, or for a turn on it, beside its source.
class Timed: AsyncCell, @unchecked Sendable {
    // Unchecked because it can be inherited from. What can change does so while the cell is locked and pending, and
    // belongs afterwards to whoever ended it.
    private let name: StaticString
    /// Where it must go on before it can end.
    private var home: Hop?
    private var alarm: DelayedWork?
    /// What is to be done in the turn that comes next.
    private var errand: Work?

    init(_ name: StaticString, on home: Hop? = nil) {
        self.name = name
        self.home = home
        super.init(tag: Self.holdsUntilEnd)
    }

    /// A step's own cell, which is one of these. A step that captured it would keep it alive.
    static func of(_ cell: AsyncCell) -> Self { unsafe unsafeDowncast(cell, to: Self.self) }

    override var obstacle: String? {
        guard let home = whilePending({ home }), home.isKeptByCaller else { return nil }
        return "its \(name) must go on on '\(home.name)', which the caller keeps busy"
    }

    /// Has `body` called on `context` when `delay` has passed, unless this has ended by then.
    ///
    /// `place` is the caller's source location, for the report of a test that ends before.
    final func wake(
        after delay: Duration, on context: some ExecutionContext,
        from place: (fileID: StaticString, line: UInt),
        _ body: @escaping Work
    ) {
        let deadline = context.time.now.advanced(by: max(delay, .zero))
        // What never comes keeps nothing: this is freed with the last reference to it.
        guard deadline < .never else { return }
        let turn = Turn(of: self, on: context.name)
        guard plan(body) else { return }
        let alarm = context.schedule(at: deadline, fileID: place.fileID, line: place.line) { turn.run() }
        guard lockIfPending() else { return _ = alarm.cancel() }
        // A time source may fire at once, and the turn may have set the next alarm already.
        let isCurrent = alarm.isWaiting
        let before = isCurrent ? self.alarm : alarm
        if isCurrent { self.alarm = alarm }
        unlock()
        // Freed outside the lock (law 9).
        _ = consume before
    }

    /// Has `body` called on `context`. If that is asked for again before it was called, once may be enough.
    final func hop(to context: some ExecutionContext, _ body: @escaping Work) {
        guard plan(body) else { return }
        let turn = Turn(of: self, on: context.name)
        context.execute({ turn.run() }, refused: { turn.refuse($0) })
    }

    /// Notes what is to be done; false if this has ended.
    private func plan(_ body: @escaping Work) -> Bool {
        guard lockIfPending() else { return false }
        let before = errand
        errand = body
        unlock()
        // Freed outside the lock (law 9).
        _ = consume before
        return true
    }

    private func goOn() {
        guard lockIfPending() else { return }
        let body = errand.take()
        unlock()
        body?()
    }

    override func didEnd() {
        home = nil
        errand = nil
        alarm.take()?.cancel()
    }

    override final var label: String { "\(name)" }

    /// What the context gets. If it refuses the turn or lets go of it, the cell ends and says so (law 1).
    ///
    /// What is to be done is kept by the cell, which frees it when it ends otherwise.
    private final class Turn: Sendable {
        private let cell: Timed
        private let context: String
        private let isUsed = Atomic<Bool>(false)

        init(of cell: Timed, on context: String) {
            self.cell = cell
            self.context = context
        }

        deinit { refuse(Refusal(.abandoned, by: context)) }

        func run() { if use() { cell.goOn() } }

        func refuse(_ refusal: Refusal) { if use() { cell.giveUp(refusal) } }

        // Relaxed: only that it happens once matters.
        private func use() -> Bool { !isUsed.exchange(true, ordering: .relaxed) }
    }
}
