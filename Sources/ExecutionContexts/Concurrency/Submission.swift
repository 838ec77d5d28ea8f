internal import Synchronization

/// How far a submission has come.
private enum State { static let idle: UInt8 = 0, sent: UInt8 = 1, done: UInt8 = 2 }

/// A submission that owes an answer: a value, the body's error, cancelled, refused or abandoned (law 1).
///
/// The body waits here, not in the context, so that cancelling frees its captures at once. The context gets
/// a claim; a claim that the context lets go of answers "abandoned".
final class Submission<Value: Sendable>: @unchecked Sendable {
    // Unchecked: `body` and `answer` are written before `state` leaves idle, and taken by whoever moves it
    // to done. Every move acquires and releases, so the taker sees what the writer wrote.
    typealias Answer = @Sendable (Result<Value, any Error>) -> Void

    private let state = Atomic<UInt8>(State.idle)
    private var body: (@Sendable () throws -> Value)?
    private var answer: Answer?
    private let origin: (fileID: StaticString, line: UInt)

    init(
        origin: (fileID: StaticString, line: UInt), _ body: @escaping @Sendable () throws -> Value
    ) {
        self.origin = origin
        self.body = body
    }

    /// Gives the work to a context; `answer` is called once, by whoever ends the matter.
    func send(to context: some ExecutionContext, answer: @escaping Answer) {
        self.answer = answer
        guard move(from: State.idle, to: State.sent) else {
            // Cancelled before it was sent.
            self.answer = nil
            return answer(.failure(CancellationError()))
        }
        let claim = Claim(self, context: context.name)
        context.execute({ claim.run() }, refused: { claim.refuse($0) })
    }

    /// Gives the work to a context, and waits for its answer or for the task to be cancelled.
    nonisolated(nonsending) func run(on context: some ExecutionContext) async throws -> Value {
        try await withCancellationHandler {
            // Unsafe only if resumed twice or never; a submission answers exactly once.
            try await unsafe withUnsafeThrowingContinuation { continuation in
                send(to: context) { unsafe continuation.resume(with: $0) }
            }
        } onCancel: {
            Seam.undivided { cancel() }
        }
    }

    /// Cancels the work if it has not started: true if it never will.
    @discardableResult
    func cancel() -> Bool {
        if move(from: State.idle, to: State.done) {
            Delivery.free(body.take())
            return true
        }
        return finish(.failure(CancellationError()))
    }

    /// Where it was submitted, as file and line.
    var place: String { "\(origin.fileID):\(origin.line)" }

    fileprivate func run() {
        guard move(from: State.sent, to: State.done) else { return }
        let answer = self.answer.take()!
        var body = self.body.take()
        let result = Result { try body!() }
        // Freed before the answer, which may let the caller go on (law 10).
        body = nil
        answer(result)
    }

    fileprivate func finish(_ failure: Result<Value, any Error>) -> Bool {
        guard move(from: State.sent, to: State.done) else { return false }
        Delivery.free(body.take())
        answer.take()!(failure)
        return true
    }

    fileprivate func refuse(_ refusal: Refusal) {
        var refusal = refusal
        refusal.origin = place
        _ = finish(.failure(refusal))
    }

    private func move(from old: UInt8, to new: UInt8) -> Bool {
        Seam.point()
        return state.compareExchange(expected: old, desired: new, ordering: .acquiringAndReleasing).exchanged
    }

    /// What the context holds: if it dies unused, the context has let go of the work.
    private final class Claim: Sendable {
        let submission: Submission
        let context: String

        init(_ submission: Submission, context: String) {
            self.submission = submission
            self.context = context
        }

        // After a run or a refusal the matter is over and this does nothing.
        deinit { submission.refuse(Refusal(.abandoned, by: context)) }

        func run() { submission.run() }
        func refuse(_ refusal: Refusal) { submission.refuse(refusal) }
    }
}
