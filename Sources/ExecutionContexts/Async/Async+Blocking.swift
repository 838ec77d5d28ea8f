internal import CPlatform
internal import Synchronization

extension Async {
    /// Blocks the calling thread until completion, and returns the value or throws the error (law
    /// 27).
    ///
    /// For threads that may block: a command-line tool's main thread, a thread of your own, a
    /// synchronous test. It cannot be called in asynchronous code. A synchronous function that a
    /// task calls can call it, and blocks one of the few threads that run Swift tasks: use `get()`
    /// or a callback in production code there.
    ///
    /// A wait without a limit that its own thread keeps from ending is reported after a second, on
    /// the standard error: on the serial context that would have to complete it, for example, or
    /// inside a callback of what it waits for. It waits on, since another thread may cancel what it
    /// waits for.
    ///
    /// When the time limit passes, it throws ``AsyncError/timedOut(after:)`` and cancels nothing.
    /// The time is real also under a context with virtual time. With a zero or negative limit it
    /// returns only what has completed already; nil means no limit.
    @inlinable
    @available(
        *, noasync, message: "It blocks a thread that runs tasks (law 27): use 'try await get()'."
    )
    public func wait(
        timeout: Duration? = nil, file: StaticString = #file, line: UInt = #line
    ) throws -> Value {
        if state.isPending { try state.block(timeout, file: file, line: line) }
        let outcome: Outcome = state.outcome()
        return try outcome.get()
    }
}

extension FutureState {
    /// Blocks the calling thread until this has completed; throws when the time limit passes.
    @usableFromInline
    final func block(_ timeout: Duration?, file: StaticString, line: UInt) throws {
        let deadline = TimeLimit.after(timeout)
        if deadline != .min { beginIfLazy() }
        // What this thread has deferred may be what would complete this.
        DeferredCalls.run()
        guard isPending else { return }
        if deadline != .min, park(until: deadline, { report(file, line) }) { return }
        throw AsyncError.timedOut(after: timeout ?? .zero)
    }

    /// Blocks the calling thread until this has completed; false if the deadline passes.
    ///
    /// Without a deadline it calls `report`, now and then, until that returns true.
    private func park(until deadline: Int64, _ report: () -> Bool) -> Bool {
        let waiting = WaitingThread()
        addSubscriber(waiting)
        // If this completed meanwhile, this thread may have deferred its own notification.
        DeferredCalls.run()
        // A simulation reports by itself that no thread can make progress.
        if deadline == Parker.never, SimulationHooks.current == nil {
            var delay: Int64 = 1_000_000_000
            repeat {
                if waiting.park(until: MonotonicClock.nanoseconds + delay) { return true }
                delay = min(delay * 2, 60_000_000_000)
            } while !report()
        }
        if waiting.park(until: deadline) { return true }
        // Not cancelled: the caller still has the `Async`, and may wait again.
        if unsubscribe(waiting, cancelsIfLast: false) { return false }
        return waiting.park(until: Parker.never)
    }

    /// Reports that the calling thread, which waits for this, keeps it from completing, or blocks a
    /// thread that tasks need; false if neither is known.
    private func report(_ file: StaticString, _ line: UInt) -> Bool {
        let problem: String
        if let obstacle = EndlessWait.obstacle(of: self) {
            problem =
                "for what its own thread keeps from completing: \(obstacle) (law 27). Unless it is cancelled or "
                + "dropped, or a hold of the caller's is released elsewhere, the wait never ends. "
                + "Wait on another thread, or use a callback or get()."
        } else if unsafe Caller.task != nil {
            problem =
                "inside a Swift task, and blocks a thread that tasks need, of which there are few (law 27). "
                + "Use 'try await get()' there; if a test drives a context by hand, run the context first."
        } else {
            return false
        }
        unsafe ec_print_error(
            "\(file):\(line): wait() has waited for more than a second \(problem) Waited for: \(chain)"
        )
        return true
    }
}

/// A thread that waits until it is notified.
private final class WaitingThread: FutureSubscriber, @unchecked Sendable {
    // Unchecked: the mark is atomic, and the parker's record belongs to the waiting thread.
    private let isNotified = Atomic<Bool>(false)
    private let parker: Parker

    override init() {
        unsafe parker = Parker(Threads.own)
        super.init()
    }

    /// Parks until notified; false if the deadline passes first.
    func park(until deadline: Int64) -> Bool {
        // Acquiring: the notified thread sees the outcome.
        while !isNotified.load(ordering: .acquiring) {
            if unsafe SimulationHooks.now(Threads.own) >= deadline { return false }
            parker.park(until: deadline, then: .whenThereIsRoom)
        }
        return true
    }

    override func notify(by source: FutureState) {
        // An exchange, because the compiler may move a retain below a plain store. Releasing: the
        // waiting thread sees the outcome. After the exchange that thread may free this object.
        let parker = parker
        _ = isNotified.exchange(true, ordering: .releasing)
        unsafe parker.unpark(by: Threads.own)
    }

    override var label: String { "a thread" }
}
