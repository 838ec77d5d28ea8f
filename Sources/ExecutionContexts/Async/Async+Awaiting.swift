internal import Synchronization

extension Async {
    /// Waits for the value without blocking a thread, or throws the error.
    ///
    /// Cancelling the waiting task throws `CancellationError` at once and cancels nothing: what is awaited goes on for those
    /// who ask later, as with `Task.value` (law 26). ``getOrCancel()`` cancels that, too. If it has ended the caller goes on
    /// without a suspension. An actor's call joins the waiters before the actor runs anything else.
    @inlinable
    public nonisolated(nonsending) func get() async throws -> Value {
        // The second load acquires, so the outcome is visible to this task.
        while cell.isPending { try await cell.waitInTask(cancelsIfLast: false) }
        let outcome: Outcome = cell.outcome()
        return try outcome.get()
    }

    /// Waits like ``get()``; cancelling the waiting task also cancels what it waits for, if nothing else is interested.
    ///
    /// Take it where the caller is the owner: for a request of its own, not for a value that a cache hands out. An
    /// `Async` that others are interested in goes on (law 26).
    @inlinable
    public nonisolated(nonsending) func getOrCancel() async throws -> Value {
        while cell.isPending { try await cell.waitInTask(cancelsIfLast: true) }
        let outcome: Outcome = cell.outcome()
        return try outcome.get()
    }
}

extension AsyncCell {
    /// Waits for the end without a thread; throws if the task is cancelled before.
    @usableFromInline
    nonisolated(nonsending) final func waitInTask(cancelsIfLast: Bool) async throws {
        let waiting = WaitingTask(cancelsIfLast: cancelsIfLast)
        try await withEscalation { priority in
            self.escalateTasks(to: priority)
        } of: {
            try await withCancellationHandler {
                // Unsafe only if resumed twice or never: the party is told once, or leaves once.
                try await unsafe withUnsafeThrowingContinuation { continuation in
                    unsafe waiting.wait(for: self, continuation)
                }
            } onCancel: {
                Seam.undivided { waiting.cancel(on: self) }
            }
        }
    }

    /// Raises the priority of the tasks that this waits for, as far as one thing leads to the next.
    ///
    /// Only a task can be escalated; a closure in the queue of a context stays where it is. Bounded, so that many
    /// waiters at the end of a chain of a million links do not walk it each.
    private final func escalateTasks(to priority: TaskPriority) {
        var cell = self
        var others: [AsyncCell] = []
        for _ in 0..<256 {
            cell.escalateTask(to: priority)
            if let source = cell.awaited {
                cell = source
            } else {
                if cell is Joint { others += cell.needs.map(\.source) }
                guard let other = others.popLast() else { return }
                cell = other
            }
        }
    }
}

private enum State { static let idle: UInt8 = 0, waits: UInt8 = 1, cancelled: UInt8 = 2 }

/// A task that waits, until it is told or cancelled.
@safe private final class WaitingTask: Party, @unchecked Sendable {
    // Unchecked: the continuation is written before the cell's line has this, and used by whoever takes it out; the
    // state is atomic and says whether a cancellation came before.
    private let state = Atomic<UInt8>(State.idle)
    private var continuation: UnsafeContinuation<Void, any Error>?
    private let cancelsIfLast: Bool

    init(cancelsIfLast: Bool) {
        self.cancelsIfLast = cancelsIfLast
        super.init()
    }

    func wait(for cell: AsyncCell, _ continuation: UnsafeContinuation<Void, any Error>) {
        unsafe self.continuation = continuation
        cell.join(self)
        // Cancelled while it was joining, when there was nobody to leave the line.
        if !move(to: State.waits) { leave(cell) }
    }

    func cancel(on cell: AsyncCell) {
        if !move(to: State.cancelled) { leave(cell) }
    }

    /// Leaves the line and goes on, unless it has been told.
    private func leave(_ cell: AsyncCell) {
        guard cell.leave(self, cancelsIfLast: cancelsIfLast) else { return }
        unsafe continuation.take()?.resume(throwing: CancellationError())
    }

    override func tell(by cell: AsyncCell) {
        unsafe continuation.take()?.resume()
    }

    override var label: String { "a task" }

    // Acquiring and releasing: who comes second sees that the other has joined, or cancelled.
    private func move(to next: UInt8) -> Bool {
        Seam.point()
        return state.compareExchange(expected: State.idle, desired: next, ordering: .acquiringAndReleasing)
            .exchanged
    }
}
