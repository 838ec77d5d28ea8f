internal import Synchronization

/// A body that another thread runs while the caller waits, unless the caller gives up before it
/// begins.
///
/// | `state` | set by | the body |
/// |---|---|---|
/// | `waiting` | the caller | waits for a thread |
/// | `begun` | the thread that runs it | runs; the caller waits for its end |
/// | `givenUp` | the caller at its deadline, or the context that drops the job | never runs |
final class TimedHandOff: @unchecked Sendable {
    // Unchecked: the thread that moves `state` away from waiting owns `body`, and clears it.
    private enum State: UInt8, AtomicRepresentable { case waiting, begun, givenUp }

    private let state = Atomic<State>(.waiting)
    private var body: (() -> Void)?
    private let end = BinarySemaphore()
    /// The caller that waits: the body runs on its behalf.
    private let caller = Caller.current

    /// Runs `body` as a job given to `submit`; nil if it has not begun at `deadline`, and never
    /// will.
    static func run<Value, Failure: Error>(
        until deadline: Int64, _ submit: (_ work: @escaping Work) -> Void,
        _ body: () throws(Failure) -> Value
    ) throws(Failure) -> Value? {
        if deadline == .min { return nil }
        // The other thread writes it before it signals, and the caller reads it after it has
        // waited.
        nonisolated(unsafe) var result: Result<Value, Failure>?
        withoutActuallyEscaping({ unsafe result = Result(catching: body) }) { body in
            let handOff = TimedHandOff(body)
            submit { [job = CompletionGuard(Job(handOff: handOff))] in job.run() }
            handOff.wait(until: deadline)
        }
        return try unsafe result?.get()
    }

    private init(_ body: @escaping () -> Void) { self.body = body }

    private func begin() {
        guard move(to: .begun) else { return }
        // Released before the end is signalled: the body must not outlive the caller's wait.
        if let body = body.take() { caller.run(body) }
        end.signal()
    }

    private func wait(until deadline: Int64) {
        if end.wait(until: deadline) { return }
        if move(to: .givenUp) { body = nil } else { end.wait() }
    }

    /// The context dropped the job: the body will never begin.
    private func drop() {
        guard move(to: .givenUp) else { return }
        body = nil
        end.signal()
    }

    // Acquiring and releasing: the thread that moves it owns the body.
    private func move(to next: State) -> Bool {
        SimulationHooks.point()
        return state.compareExchange(
            expected: .waiting, desired: next, ordering: .acquiringAndReleasing
        )
        .exchanged
    }

    /// The job that runs the body; its guard is released with it, whether or not it ran.
    private struct Job: GuardedJob {
        let handOff: TimedHandOff

        func run() { handOff.begin() }

        func drop() { handOff.drop() }
    }
}
