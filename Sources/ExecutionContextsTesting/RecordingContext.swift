public import ExecutionContexts

/// A context that records which jobs are submitted to its base, and when they run.
///
/// ```swift
/// let context = ManualContext()
/// let recorder = WorkRecorder()
/// let service = Service(on: RecordingContext(context, into: recorder))
/// service.refresh()
/// #expect(recorder.submitted.count == 1)
/// ```
///
/// It keeps all capabilities of its base (law 8). Several recording contexts may share one
/// recorder, which then keeps one order over all of them.
public final class RecordingContext<Base: ExecutionContext>: ContextDecorator {
    public let base: Base
    /// The recorder that receives the jobs and delays.
    public let recorder: WorkRecorder
    private let clock: RecordingTime

    /// Creates a context that records the jobs submitted to `base`.
    public init(_ base: Base, into recorder: WorkRecorder = WorkRecorder()) {
        self.base = base
        self.recorder = recorder
        clock = RecordingTime(base.time, recorder)
    }

    public func execute(_ work: consuming @escaping Work) {
        let work = recorded(consume work, .execute)
        base.execute(consume work)
    }

    public func enqueue(_ work: consuming @escaping Work) {
        let work = recorded(consume work, .enqueue)
        base.enqueue(consume work)
    }

    public func execute(
        _ work: consuming @escaping Work, refused: consuming @escaping @Sendable (Refusal) -> Void
    ) {
        let work = recorded(consume work, .execute)
        base.execute(consume work, refused: consume refused)
    }

    public var time: any TimeSource { clock }

    public var facts: ContextFacts {
        var facts = ContextFacts(decorator: self)
        facts.meansThread = base.jobsMeanThread
        return facts
    }

    private func recorded(_ work: @escaping Work, _ kind: RecordedWork.Kind) -> Work {
        let number = recorder.submit(kind, to: base)
        return { [recorder, base] in recorder.run(number, on: base, work) }
    }
}

extension RecordingContext: BarrierContext where Base: BarrierContext {
    public func executeBarrier(_ work: consuming @escaping Work) {
        let work = recorded(consume work, .barrier)
        base.executeBarrier(consume work)
    }
}

extension RecordingContext: SerialContext where Base: SerialContext {}
extension RecordingContext: Executor where Base: ActorBackingContext {}
extension RecordingContext: SerialExecutor where Base: ActorBackingContext {}
extension RecordingContext: ActorBackingContext where Base: ActorBackingContext {}

extension RecordingContext: RefusingContext where Base: RefusingContext {
    public func tryExecute(_ work: consuming @escaping Work) throws(Refusal) {
        let work = recorded(consume work, .execute)
        try base.tryExecute(consume work)
    }
}

extension RecordingContext: SynchronousContext where Base: SynchronousContext {
    public func sync<Value, Failure: Error>(_ body: () throws(Failure) -> Value) throws(Failure)
        -> Value
    {
        let number = recorder.submit(.sync, to: base)
        return try base.sync { () throws(Failure) -> Value in
            try recorder.run(number, on: base, body)
        }
    }
}

extension RecordingContext: SynchronousBarrierContext where Base: SynchronousBarrierContext {
    public func syncBarrier<Value, Failure: Error>(
        _ body: () throws(Failure) -> Value
    ) throws(Failure) -> Value {
        let number = recorder.submit(.sync, to: base)
        return try base.syncBarrier { () throws(Failure) -> Value in
            try recorder.run(number, on: base, body)
        }
    }
}

/// A time source that records the delays added to its base.
private final class RecordingTime: TimeSource {
    private let base: any TimeSource
    private let recorder: WorkRecorder

    init(_ base: any TimeSource, _ recorder: WorkRecorder) {
        self.base = base
        self.recorder = recorder
    }

    var now: ContextInstant { base.now }

    var identity: ObjectIdentifier { base.identity }

    func add(_ delay: DelayedWork, tolerance: Duration) {
        recorder.delay(delay)
        base.add(delay, tolerance: tolerance)
    }

    func remove(_ delay: DelayedWork) {
        recorder.cancel(delay)
        base.remove(delay)
    }
}
