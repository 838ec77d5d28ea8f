/// A caller's turn in a context: one of its jobs stays while the caller runs a body.
///
/// 1. The caller submits the job, and waits for `answer`.
/// 2. The job notes its `place`, completes `answer`, and waits for `end`.
/// 3. The caller runs the body inside of everything that the job is inside of, and signals `end`.
///
/// A job that comes to the caller's own thread runs the body itself. So does one that comes to the
/// main thread, which its context then means. If the context drops the job, the body is left.
final class CallerTurn: @unchecked Sendable {
    // Unchecked: the job uses `body` and `place` before `answer` completes, the caller after that.
    private let answer = AwaitedEnd()
    private let end = BinarySemaphore()
    private let caller = Caller.current
    private var body: (() -> Void)?
    private var place: Caller?

    private init(_ body: @escaping () -> Void) { self.body = body }

    /// Runs `body` on the caller, as a job of `view`; nil if the job was dropped.
    ///
    /// `base` is the context whose jobs the wait needs: see ``AwaitedEnd/wait(for:named:then:)``.
    static func result<Value, Failure: Error>(
        of body: () throws(Failure) -> Value, in view: some ExecutionContext,
        over base: some ExecutionContext
    ) -> Result<Value, Failure>? {
        // Unsafe in name only: one thread at a time uses body and result, and the turn orders the
        // accesses of the two threads.
        nonisolated(unsafe) var result: Result<Value, Failure>?
        withoutActuallyEscaping({ unsafe result = Result(catching: body) }) { work in
            nonisolated(unsafe) let work = work  // The caller waits for it.
            // A view that binds values to a job binds them to the body.
            let turn = CallerTurn(view.bound { unsafe work() })
            view.execute { [ending = AwaitedEnd.Ending(turn.answer)] in
                turn.come()
                ending.ran()
            }
            turn.take(from: base, named: view.name)
        }
        return unsafe result
    }

    /// The job.
    private func come() {
        if caller.isHere || QueueMark.isCallerOnMain {
            let body = body.take()
            return caller.run { body?() }
        }
        place = .current
        answer.complete()
        // `.atOnce`: other jobs of the context wait for this one to end.
        end.wait(then: .atOnce)
    }

    private func take(from base: some ExecutionContext, named name: String) {
        // `.atOnce`: the caller then keeps the job, and what waits for it, from going on.
        answer.wait(for: base, named: name, then: .atOnce)
        guard let place else { return body = nil }
        // Freed before the job resumes, and not on its thread.
        place.surround { body.take()?() }
        end.signal()
    }
}
