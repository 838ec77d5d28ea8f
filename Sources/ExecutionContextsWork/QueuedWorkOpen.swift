public import ExecutionContexts
internal import Synchronization

/// Work of a queue that ends later: whoever holds it ends it, once.
///
/// ```swift
/// let queue = PrioritizedQueue(on: .global, limit: 2)
/// queue.submitOpen(of: Data.self) { work in
///     let request = session.load(url) { data, error in work.complete(error.map { .failure($0) } ?? .success(data)) }
///     work.onCancel { request.cancel() }
/// }
/// ```
///
/// Its place in the queue is taken until it has been ended. If it is dropped before, its place is free all the same and
/// its `Async` ends with an error that says so (law 26). It may be ended on any thread, inside the body too.
public final class OpenWork<Value: Sendable>: Sendable {
    private let job: AnswerJob<Value>
    private let origin: String
    private let isEnded = Atomic<Bool>(false)

    init(_ job: AnswerJob<Value>, origin: String) {
        self.job = job
        self.origin = origin
    }

    deinit { fail(AsyncError.abandoned(promise: origin)) }

    /// Ends it with a value; false if it had been ended before, which changes nothing (law 24).
    @discardableResult
    public func succeed(_ value: Value) -> Bool { complete(.success(value)) }

    /// Ends it with an error; false if it had been ended before, which changes nothing (law 24).
    @discardableResult
    public func fail(_ error: any Error) -> Bool { complete(.failure(error)) }

    /// Ends it with an outcome; false if it had been ended before, which changes nothing (law 24).
    @discardableResult
    public func complete(_ outcome: Result<Value, any Error>) -> Bool {
        // Acquiring and releasing: who comes late sees what the first has done before.
        guard !isEnded.exchange(true, ordering: .acquiringAndReleasing) else { return false }
        job.core.end(job) { job.promise.complete(outcome) }
        return true
    }

    /// Runs `body` when the work is cancelled, once, at once if it has been; never after it was ended otherwise.
    ///
    /// By then its `Async` has ended. Its place is not free before what it started has stopped, and the work is ended.
    public func onCancel(_ body: @escaping Work) { job.promise.onCancel(body) }
}

/// Work that goes on after its body has returned.
final class OpenJob<Value: Sendable>: AnswerJob<Value>, @unchecked Sendable {
    // Unchecked: as for every job, `body` belongs to whoever has moved the phase.
    private var body: (@Sendable (OpenWork<Value>) -> Void)?
    private let origin: String

    init(
        _ body: @escaping @Sendable (OpenWork<Value>) -> Void, _ origin: String, _ promise: Promise<Value>,
        of core: PrioritizedQueueCore, _ priority: WorkPriority
    ) {
        self.body = body
        self.origin = origin
        super.init(promise, of: core, priority)
        // The body, and what it was given.
        parts = 2
    }

    override func perform() {
        runBody()
        core.end(self) {}
    }

    private func runBody() { body.take()!(OpenWork(self, origin: origin)) }

    override func drop(_ error: any Error) {
        body = nil
        super.drop(error)
    }

    override func stop() { promise.async.cancel() }
}
