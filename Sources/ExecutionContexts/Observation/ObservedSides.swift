extension CriticalSection {
    /// This section as a context, with an observer that is notified of waiting and running jobs.
    ///
    /// The waiting time of a job is the time from the call until the caller is inside. Code that
    /// uses the section itself is not observed.
    @inlinable
    public func observed(by observer: some ContextObserver) -> some SynchronousContext {
        Observed(self, by: observer)
    }
}

extension ReadingContext {
    /// This side, with an observer that is notified of its reads.
    @inlinable
    public func observed(by observer: some ContextObserver) -> some SynchronousContext {
        Observed(self, by: observer)
    }
}

extension WritingContext {
    /// This side, with an observer that is notified of its writes.
    @inlinable
    public func observed(by observer: some ContextObserver) -> some ActorBackingContext
        & SynchronousBarrierContext
    {
        Observed(self, by: observer)
    }
}

/// A coordinator with an observer that is notified of the reads and writes made through this value.
///
/// It excludes through the same coordinator. Code that uses that one directly is not observed.
public struct ObservedCoordinator: Sendable {
    /// The coordinator.
    public let coordinator: ReadWriteCoordinator
    @usableFromInline let readingSide: Observed<ReadingContext>
    @usableFromInline let writingSide: Observed<WritingContext>

    init(_ coordinator: ReadWriteCoordinator, observer: any ContextObserver) {
        self.coordinator = coordinator
        readingSide = Observed(coordinator.reading, by: observer)
        writingSide = Observed(coordinator.writing, by: observer)
    }

    /// Runs `body` like the coordinator's `read`.
    public func read<Value, Failure: Error>(
        _ body: () throws(Failure) -> Value
    ) throws(Failure) -> Value { try readingSide.sync(body) }

    /// Runs `write` later like the coordinator's `enqueueWrite`.
    public func enqueueWrite(_ write: @escaping Work) { writingSide.execute(write) }

    /// Runs `body` like the coordinator's `blockingWrite`.
    public func blockingWrite<Value, Failure: Error>(
        _ body: () throws(Failure) -> Value
    ) throws(Failure) -> Value { try writingSide.sync(body) }

    /// The reading side as a context, observed: its `run` is a read that blocks no thread.
    @inlinable
    public var reading: some SynchronousContext { readingSide }

    /// The writing side as a context, observed: its `run` is a write that blocks no thread.
    @inlinable
    public var writing: some ActorBackingContext & SynchronousBarrierContext { writingSide }
}

extension ReadWriteCoordinator {
    /// This coordinator, with an observer that is notified of waiting and running reads and writes.
    public func observed(by observer: some ContextObserver) -> ObservedCoordinator {
        ObservedCoordinator(self, observer: observer)
    }
}
