/// A coordinator with an observer that is notified of the reads and writes made through this value.
///
/// It excludes through the same coordinator. Code that uses that one directly is not observed.
public struct ObservedCoordinator: Sendable {
    /// The coordinator.
    public let coordinator: ReadWriteCoordinator
    /// The reading side as a context, observed: its `run` is a read that blocks no thread.
    public let reading: ContextView<ReadingContext, Observing>
    /// The writing side as a context, observed: its `run` is a write that blocks no thread.
    public let writing: ContextView<WritingContext, Observing>

    init(_ coordinator: ReadWriteCoordinator, observer: some ContextObserver) {
        self.coordinator = coordinator
        reading = coordinator.reading.observed(by: observer)
        writing = coordinator.writing.observed(by: observer)
    }

    /// Runs `body` like the coordinator's `read`.
    public func read<Value, Failure: Error>(
        _ body: () throws(Failure) -> Value
    ) throws(Failure) -> Value { try reading.sync(body) }

    /// Runs `write` later like the coordinator's `enqueueWrite`.
    public func enqueueWrite(_ write: @escaping Work) { writing.execute(write) }

    /// Runs `body` like the coordinator's `blockingWrite`.
    public func blockingWrite<Value, Failure: Error>(
        _ body: () throws(Failure) -> Value
    ) throws(Failure) -> Value { try writing.sync(body) }
}

extension ReadWriteCoordinator {
    /// This coordinator, with an observer that is notified of waiting and running reads and writes.
    public func observed(by observer: some ContextObserver) -> ObservedCoordinator {
        ObservedCoordinator(self, observer: observer)
    }
}
