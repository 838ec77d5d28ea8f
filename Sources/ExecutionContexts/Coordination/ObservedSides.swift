extension CriticalSection {
    /// This section as a context, with an observer that is told who waits to get inside and who is.
    ///
    /// What is waited for is time on the caller: from the call to the moment when it is inside. Those who use the section
    /// itself are not observed.
    public func observed(by observer: some ContextObserver) -> some SynchronousContext {
        Attended(base: self, attendant: Observing(observer))
    }
}

extension ReadingContext {
    /// This side, with an observer that is told of its reads.
    public func observed(by observer: some ContextObserver) -> some SynchronousContext {
        Attended(base: self, attendant: Observing(observer))
    }
}

extension WritingContext {
    /// This side, with an observer that is told of its writes.
    public func observed(by observer: some ContextObserver) -> some ActorBackingContext
        & SynchronousBarrierContext
    {
        Attended(base: self, attendant: Observing(observer))
    }
}

/// A coordinator with an observer that is told of the reads and writes that are made through this.
///
/// It is the same coordinator: who uses it directly is excluded as before, and not observed.
public struct ObservedCoordinator: Sendable {
    /// The coordinator.
    public let coordinator: ReadWriteCoordinator
    private let readingSide: Attended<ReadingContext, Observing>
    private let writingSide: Attended<WritingContext, Observing>

    init(_ coordinator: ReadWriteCoordinator, observer: any ContextObserver) {
        self.coordinator = coordinator
        readingSide = Attended(base: coordinator.reading, attendant: Observing(observer))
        writingSide = Attended(base: coordinator.writing, attendant: Observing(observer))
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
    public var writing: some ActorBackingContext & SynchronousBarrierContext { writingSide }
}

extension ReadWriteCoordinator {
    /// This coordinator, with an observer that is told of reads and writes: who waits for them, and who is inside.
    public func observed(by observer: some ContextObserver) -> ObservedCoordinator {
        ObservedCoordinator(self, observer: observer)
    }
}
