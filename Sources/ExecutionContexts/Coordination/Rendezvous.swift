internal import Synchronization

/// A body that another thread runs while the caller waits for it, unless the caller gives up before it begins.
final class Rendezvous: @unchecked Sendable {
    // Unchecked: `body` belongs to whoever moves `state` away from waiting, and that one clears it.
    private enum State { static let waiting: UInt8 = 0, begun: UInt8 = 1, givenUp: UInt8 = 2 }

    private let state = Atomic<UInt8>(State.waiting)
    private var body: (() -> Void)?
    private let end = Beacon()
    /// Who waits: the body runs as a part of what that one is doing.
    private let caller = Caller.current

    /// Runs `body` by `submit`; nil if it has not begun at `deadline`, and never will.
    static func run<Value, Failure: Error>(
        until deadline: Int64, _ submit: (_ work: @escaping Work) -> Void,
        _ body: () throws(Failure) -> Value
    ) throws(Failure) -> Value? {
        if deadline == .min { return nil }
        // The other thread writes it before it signals, and the caller reads it after it has waited.
        nonisolated(unsafe) var result: Result<Value, Failure>?
        withoutActuallyEscaping({ unsafe result = Result(catching: body) }) { body in
            let meeting = Rendezvous(body)
            submit { [ticket = Ticket(meeting)] in ticket.meeting.begin() }
            meeting.wait(until: deadline)
        }
        return try unsafe result?.get()
    }

    private init(_ body: @escaping () -> Void) { self.body = body }

    private func begin() {
        guard move(to: State.begun) else { return }
        // Let go of before the end is announced: it must not outlive the caller's wait.
        if let body = body.take() { caller.run(body) }
        end.signal()
    }

    private func wait(until deadline: Int64) {
        if end.wait(until: deadline) { return }
        if move(to: State.givenUp) { body = nil } else { end.wait() }
    }

    /// The context has let go of it: nobody will begin.
    private func lose() {
        guard move(to: State.givenUp) else { return }
        body = nil
        end.signal()
    }

    // Acquiring and releasing: who moves it owns the body.
    private func move(to next: UInt8) -> Bool {
        state.compareExchange(expected: State.waiting, desired: next, ordering: .acquiringAndReleasing)
            .exchanged
    }

    /// What the context gets; it dies with the closure, run or not.
    private final class Ticket: Sendable {
        let meeting: Rendezvous
        init(_ meeting: Rendezvous) { self.meeting = meeting }
        deinit { meeting.lose() }
    }
}
