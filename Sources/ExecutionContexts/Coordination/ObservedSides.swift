extension CriticalSection {
    /// This section as a context, with an observer that is told who waits to get inside and who is.
    ///
    /// What is waited for is time on the caller: from the call to the moment when it is inside. Those who use the section
    /// itself are not observed.
    public func observed(by observer: some ContextObserver) -> some SynchronousContext {
        Observed(base: self, observer: observer)
    }
}

extension ReadingContext {
    /// This side, with an observer that is told of its reads.
    public func observed(by observer: some ContextObserver) -> some SynchronousContext {
        Observed(base: self, observer: observer)
    }
}

extension WritingContext {
    /// This side, with an observer that is told of its writes.
    public func observed(by observer: some ContextObserver) -> some SerialContext
        & SynchronousBarrierContext
    {
        Observed(base: self, observer: observer)
    }
}

/// A coordinator with an observer that is told of the reads and writes that are made through this.
///
/// It is the same coordinator: who uses it directly is excluded as before, and not observed.
public struct ObservedCoordinator: Sendable {
    /// The coordinator.
    public let coordinator: ReadWriteCoordinator
    private let readingSide: Observed<ReadingContext>
    private let writingSide: Observed<WritingContext>

    init(_ coordinator: ReadWriteCoordinator, observer: any ContextObserver) {
        self.coordinator = coordinator
        readingSide = Observed(base: coordinator.reading, observer: observer)
        writingSide = Observed(base: coordinator.writing, observer: observer)
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
    public var reading: some SynchronousContext { readingSide }

    /// The writing side as a context, observed: its `run` is a write that blocks no thread.
    public var writing: some SerialContext & SynchronousBarrierContext { writingSide }
}

extension ReadWriteCoordinator {
    /// This coordinator, with an observer that is told of reads and writes: who waits for them, and who is inside.
    public func observed(by observer: some ContextObserver) -> ObservedCoordinator {
        ObservedCoordinator(self, observer: observer)
    }
}
