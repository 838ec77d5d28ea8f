internal import Synchronization

extension Async {
    /// Waits for the value without blocking a thread, or throws the error.
    ///
    /// Cancelling the waiting task throws `CancellationError` at once and leaves the `Async`, which is cancelled in turn if
    /// nobody else wants it (law 26).
    @inlinable
    public func get() async throws -> Value {
        if cell.isPending { try await cell.waitInTask() }
        let outcome: Outcome = cell.outcome()
        return try outcome.get()
    }
}

extension AsyncCell {
    /// Waits for the end without a thread; throws if the task is cancelled before.
    @usableFromInline
    final func waitInTask() async throws {
        let waiting = WaitingTask()
        try await withTaskCancellationHandler {
            // Unsafe only if resumed twice or never: the party is told once, or leaves once.
            try await unsafe withUnsafeThrowingContinuation { continuation in
                unsafe waiting.wait(for: self, continuation)
            }
        } onCancel: {
            Seam.undivided { waiting.cancel(on: self) }
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
        guard cell.leave(self) else { return }
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
