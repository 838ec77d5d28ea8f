extension Async {
    /// Returns a future with the same outcome, at least `delay` later on `context`, in its time.
    ///
    /// Errors are delayed like values. A zero or negative delay means as soon as possible. The
    /// context has no default: virtual time would not reach a delay on another one (law 7).
    public func delay(
        _ delay: Duration, on context: some ExecutionContext, fileID: StaticString = #fileID,
        line: UInt = #line
    ) -> Async {
        let delayed = Timed("delay", needsSource: true, on: context)
        delayed.subscribe(to: state) { source, delayed in
            Timed.of(delayed).wake(after: delay, on: context, from: CodePlace(fileID, line)) {
                delayed.complete(like: source, Value.self)
            }
        }
        return Async(state: delayed)
    }

    /// Returns a future with the same outcome if it comes within `limit`, in the time of `context`.
    ///
    /// When the limit passes, the result fails with ``AsyncError/timedOut(after:)`` and leaves the
    /// source, which is cancelled if it has no other interested subscriber (law 26). A zero or
    /// negative limit accepts only what has completed already. Cancelling the result cancels no
    /// other subscriber. An earlier deadline of the caller's shortens the limit (law 38).
    public func timeout(
        after limit: Duration, on context: some ExecutionContext, fileID: StaticString = #fileID,
        line: UInt = #line
    ) -> Async {
        if let outcome { return Async(outcome) }
        let limit = Deadline.shortened(limit, in: context.time) ?? limit
        guard limit > .zero else {
            state.cancelIfUnwanted()
            return Async(error: AsyncError.timedOut(after: limit))
        }
        let timed = Timed("timeout", on: context)
        timed.subscribe(to: state, FutureState.copy(Value.self))
        // An infinite limit needs no alarm: the source completes this.
        if context.time.now.advanced(by: limit) < .never {
            timed.wake(after: limit, on: context, from: CodePlace(fileID, line)) {
                timed.giveUp(AsyncError.timedOut(after: limit))
            }
        }
        return Async(state: timed)
    }
}

/// A future state that waits for the time of a context, or for a job on it, beside its source.
class Timed: FutureState, @unchecked Sendable {
    // Unchecked because it can be inherited from. Mutable properties change while the state is
    // locked and pending; afterwards the thread that completed it owns them.
    private let name: StaticString
    /// Whether it needs its source, and then a job on the context; otherwise one of them.
    private let needsSource: Bool
    private var context: (any ExecutionContext)?
    private var alarm: DelayedWork?
    /// What the next job on the context does.
    private var pendingWork: Work?
    private var isRunning = false

    init(_ name: StaticString, needsSource: Bool = false, on context: some ExecutionContext) {
        self.name = name
        self.needsSource = needsSource
        self.context = context
        super.init(tag: Self.holdsUntilCompletion)
    }

    /// The state that a propagation gets: one that captured it would keep it alive.
    static func of(_ state: FutureState) -> Self { unsafe unsafeDowncast(state, to: Self.self) }

    override var needsAll: Bool { needsSource }

    override var mayEndAlone: Bool {
        whilePending { hasJob ? context : nil }.map { !$0.isKeptBusyByCaller } ?? false
    }

    override var obstacle: String? {
        guard let context = whilePending({ needsSource || hasJob ? context : nil }),
            context.isKeptBusyByCaller
        else { return nil }
        return "its \(name) must continue on '\(context.name)', which the caller keeps busy"
    }

    /// Whether a job on the context is planned or runs; read while the state is locked.
    private var hasJob: Bool { isRunning || pendingWork != nil }

    /// Calls `body` on `context` after `delay`, unless this has completed by then.
    final func wake(
        after delay: Duration, on context: some ExecutionContext, from place: CodePlace,
        _ body: @escaping Work
    ) {
        let deadline = context.time.now.advanced(by: max(delay, .zero))
        // An infinite delay keeps nothing alive: this is freed with the last reference to it.
        guard deadline < .never else { return }
        let job = CompletionGuard(PendingJob(state: self, context: context.name, place: place))
        guard plan(body) else { return }
        let alarm = context.schedule(at: deadline, from: place) { job.run() }
        guard lockIfPending() else { return _ = alarm.cancel() }
        // A time source may fire at once, and the job may have set the next alarm already.
        let isCurrent = alarm.isWaiting
        let before = isCurrent ? self.alarm : alarm
        if isCurrent { self.alarm = alarm }
        lock.unlock()
        // Freed outside the lock (law 9).
        _ = consume before
    }

    /// Calls `body` on `context`; a second request before the call may result in one call.
    final func hop(
        to context: some ExecutionContext, from place: CodePlace, _ body: @escaping Work
    ) {
        guard plan(body) else { return }
        let (work, refused) = CompletionGuard.closures(
            for: PendingJob(state: self, context: context.name, place: place))
        context.execute(consume work, refused: consume refused)
    }

    /// Stores what the next job does; false if this has completed.
    private func plan(_ body: @escaping Work) -> Bool {
        guard lockIfPending() else { return false }
        let before = exchange(&pendingWork, with: body)
        lock.unlock()
        // Freed outside the lock (law 9).
        _ = consume before
        return true
    }

    private func runPendingWork() {
        guard lockIfPending() else { return }
        let body = pendingWork.take()
        isRunning = true
        lock.unlock()
        body?()
        guard lockIfPending() else { return }
        isRunning = false
        lock.unlock()
    }

    override func didComplete() {
        context = nil
        pendingWork = nil
        alarm.take()?.cancel()
    }

    override final var label: String { "\(name)" }

    /// The job on the context. The state stores what it does, and fails if it is dropped (law 1).
    private struct PendingJob: GuardedJob {
        let state: Timed
        let context: String
        let place: CodePlace

        var source: JobSource { JobSource(place) }

        func run() { state.runPendingWork() }

        func refuse(_ refusal: Refusal) { state.giveUp(refusal) }

        func drop() { refuse(Refusal(.abandoned, by: context)) }
    }
}
