public import ExecutionContexts
internal import Synchronization

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
/// permit is freed too, and its `Async` ends with an error that says so (law 26). Any thread may
/// end it, also inside the body.
public final class OpenWork<Value: Sendable>: Sendable {
    private let job: ResultJob<Value>
    private let location: String
    private let isEnded = Atomic<Bool>(false)

    init(_ job: ResultJob<Value>, location: String) {
        self.job = job
        self.location = location
    }

    deinit { fail(AsyncError.abandoned(promise: location)) }

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
        // Acquiring and releasing: a later caller sees what the first caller did before.
        guard !isEnded.exchange(true, ordering: .acquiringAndReleasing) else { return false }
        job.core.end(job) { job.promise.complete(outcome) }
        return true
    }

    /// Runs `body` once when the work is cancelled, at once if it has been; never after it was
    /// ended otherwise.
    ///
    /// By then its `Async` has ended. The permit stays in use until what the body started has
    /// stopped and ends the work.
    public func onCancel(_ body: @escaping Work) { job.promise.onCancel(body) }
}

/// A job that continues after its body has returned.
final class OpenJob<Value: Sendable>: ResultJob<Value>, @unchecked Sendable {
    // Unchecked: as for every job, `body` belongs to the thread that has moved the phase.
    private var body: (@Sendable (OpenWork<Value>) -> Void)?
    private let location: String

    init(
        _ body: @escaping @Sendable (OpenWork<Value>) -> Void, _ location: String,
        _ promise: Promise<Value>,
        of core: PrioritizedQueueCore, _ priority: WorkPriority
    ) {
        self.body = body
        self.location = location
        super.init(promise, of: core, priority)
        // The body, and the `OpenWork` that it receives.
        parts = 2
    }

    override func perform() {
        runBody()
        core.end(self) {}
    }

    private func runBody() { body.take()!(OpenWork(self, location: location)) }

    override func drop(_ error: any Error) {
        body = nil
        super.drop(error)
    }

    override func stop() { promise.async.cancel() }
}
