internal import Synchronization

extension Async {
    /// Waits for the value without blocking a thread, or throws the error.
    ///
    /// If the waiting task is cancelled, this throws `CancellationError` at once and cancels
    /// nothing: the `Async` continues for later callers, as with `Task.value` (law 26).
    /// ``getOrCancel()`` cancels the `Async`, too. If it has completed, the caller continues
    /// without a suspension. A call on an actor subscribes before the actor runs another job.
    @inlinable
    public nonisolated(nonsending) func get() async throws -> Value {
        // `isPending` acquires, so the outcome is visible to this task.
        while state.isPending { try await state.waitInTask(cancelsIfLast: false) }
        let outcome: Outcome = state.outcome()
        return try outcome.get()
    }

    /// Waits like ``get()``; cancelling the waiting task also cancels this, if it has no other
    /// interested subscriber.
    ///
    /// Use it if the caller is the owner: for a request of its own, not for a value from a cache.
    /// An `Async` with other interested subscribers continues (law 26).
    @inlinable
    public nonisolated(nonsending) func getOrCancel() async throws -> Value {
        while state.isPending { try await state.waitInTask(cancelsIfLast: true) }
        let outcome: Outcome = state.outcome()
        return try outcome.get()
    }
}

extension FutureState {
    /// Suspends the task until completion; throws if the task is cancelled before that.
    @usableFromInline
    nonisolated(nonsending) final func waitInTask(cancelsIfLast: Bool) async throws {
        // Before the escalation, which raises the tasks behind this.
        if !Task.isCancelled { beginIfLazy() }
        let waiting = WaitingTask(cancelsIfLast: cancelsIfLast)
        try await withEscalationHandler { priority in
            self.escalateTasks(to: priority)
        } of: {
            try await withCancellationHandler {
                // Unsafe only if resumed twice or never: the subscriber is notified once, or leaves
                // once.
                try await unsafe withUnsafeThrowingContinuation { continuation in
                    unsafe waiting.wait(for: self, continuation)
                }
            } onCancel: {
                SimulationHooks.undivided { waiting.cancel(on: self) }
            }
        }
    }

    /// Raises the priority of the tasks that this waits for, along the chains of sources.
    ///
    /// Only a task can be escalated; a job in the queue of a context keeps its position. Bounded,
    /// so that many waiters at the end of a chain of a million links do not each walk all of it.
    private final func escalateTasks(to priority: TaskPriority) {
        var current = self
        var others: [FutureState] = []
        for _ in 0..<256 {
            current.escalateTask(to: priority)
            if let source = current.awaited {
                current = source
            } else {
                if current is Combinator { others += current.dependencies.map(\.source) }
                guard let other = others.popLast() else { return }
                current = other
            }
        }
    }
}

private enum State: UInt8, AtomicRepresentable { case idle, waiting, cancelled }

/// A task that waits until it is notified or cancelled.
@safe private final class WaitingTask: FutureSubscriber, @unchecked Sendable {
    // Unchecked: the continuation is written before this is queued, and used by the thread that
    // removes this from the queue. `state` is atomic: it decides which came first, the wait or a
    // cancellation.
    private let state = Atomic<State>(.idle)
    private var continuation: UnsafeContinuation<Void, any Error>?
    private let cancelsIfLast: Bool

    init(cancelsIfLast: Bool) {
        self.cancelsIfLast = cancelsIfLast
        super.init()
    }

    func wait(for source: FutureState, _ continuation: UnsafeContinuation<Void, any Error>) {
        // Acquiring is not needed: the cancelling thread has written nothing else. A task that
        // arrives cancelled is no subscriber, so a lazy source does not begin.
        if state.load(ordering: .relaxed) == .cancelled {
            if cancelsIfLast { source.cancelIfUnwanted() }
            return unsafe continuation.resume(throwing: CancellationError())
        }
        unsafe self.continuation = continuation
        source.addSubscriber(self)
        // Cancelled before it was queued: the cancelling thread could not remove it.
        if !move(to: .waiting) { unsubscribe(from: source) }
    }

    func cancel(on source: FutureState) {
        if !move(to: .cancelled) { unsubscribe(from: source) }
    }

    /// Leaves the queue and resumes the task with an error, unless it has been notified.
    private func unsubscribe(from source: FutureState) {
        guard source.unsubscribe(self, cancelsIfLast: cancelsIfLast) else { return }
        unsafe continuation.take()?.resume(throwing: CancellationError())
    }

    override func notify(by source: FutureState) {
        unsafe continuation.take()?.resume()
    }

    override var label: String { "a task" }

    // Acquiring and releasing: the second thread sees that the first one has joined, or cancelled.
    private func move(to next: State) -> Bool {
        SimulationHooks.point()
        return state.compareExchange(
            expected: .idle, desired: next, ordering: .acquiringAndReleasing
        )
        .exchanged
    }
}
