public import ExecutionContexts

/// Work of a queue that its owner ends, once, perhaps after its body has returned.
///
/// ```swift
/// let queue = PrioritizedQueue(on: .global, limit: 2)
/// queue.submitOpen(of: Data.self) { work in
///     let request = session.load(url) { data, error in work.complete(error.map { .failure($0) } ?? .success(data)) }
///     work.onCancel { request.cancel() }
/// }
/// ```
///
/// The work holds a permit of the queue until it has been ended. If it is released before, the
/// permit is freed, too, and its `Async` ends with an error (law 26). Any thread may end it, also
/// inside the body.
public final class OpenWork<Value: Sendable>: Sendable {
    private let job: ResultJob
    private let end = Decision()

    init(_ job: ResultJob) { self.job = job }

    deinit {
        if end.wasMade { return }
        fail(AsyncError.abandoned(promise: job.place.call))
    }

    /// Ends the work with a value; false if it had been ended before, which changes nothing
    /// (law 24).
    @discardableResult
    public func succeed(_ value: Value) -> Bool { complete(.success(value)) }

    /// Ends the work with an error; false if it had been ended before, which changes nothing
    /// (law 24).
    @discardableResult
    public func fail(_ error: any Error) -> Bool { complete(.failure(error)) }

    /// Ends the work with an outcome; false if it had been ended before, which changes nothing
    /// (law 24).
    @discardableResult
    public func complete(_ outcome: Result<Value, any Error>) -> Bool {
        guard end.make() else { return false }
        job.end(with: QueuedOutcome(outcome))
        return true
    }

    /// Runs `body` once when the work is cancelled, at once if it has been; never after it was
    /// ended otherwise.
    ///
    /// By then its `Async` has ended. The permit stays in use until the operation that the body
    /// started has stopped and ends the work.
    public func onCancel(_ body: @escaping Work) { job.result(of: Value.self).onCancel(body) }
}

/// A job that continues after its body has returned.
final class OpenJob: ResultJob, @unchecked Sendable {
    // Unchecked: as for every job, `body` belongs to the thread that has moved the phase.
    private var body: (@Sendable (ResultJob) -> Void)?

    /// - Parameter body: makes the `OpenWork` of the job, which it passes on.
    init(
        _ body: @escaping @Sendable (ResultJob) -> Void, at place: CodePlace,
        of core: PrioritizedQueueCore, _ priority: WorkPriority
    ) {
        self.body = body
        super.init(at: place, of: core, priority)
        // The body, and the `OpenWork` that it receives.
        parts = 2
    }

    override func perform() { body.take()!(self) }

    override func drop(_ error: any Error) {
        // The captures may cancel the next job, and so on.
        Freeing.free(body.take())
        super.drop(error)
    }

    override func stop<Value: Sendable>(_ type: Value.Type) { result(of: type).async.cancel() }
}
