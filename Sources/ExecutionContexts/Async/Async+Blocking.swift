internal import CPlatform
internal import Synchronization

extension Async {
    /// Blocks the calling thread until completion, and returns the value or throws the error (law
    /// 27).
    ///
    /// For threads that may block: a command-line tool's main thread, a thread of your own, an
    /// XCTest. It cannot be called in asynchronous code; a synchronous function that a task calls
    /// can call it. It traps with a message where it could never return: on the serial context that
    /// would have to complete it, and inside a callback of what it waits for. It also traps on the
    /// few threads that run Swift tasks, those of Swift Testing among them. Use `get()` or a
    /// callback there. If it has completed, it returns on every thread.
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
        // Before the search for obstacles: what it follows may have some.
        if deadline != .min { beginIfLazy() }
        // What this thread has deferred may be what would complete this.
        DeferredCalls.run()
        guard isPending else { return }
        if deadline != .min {
            var isOver = false
            while !isOver, let obstacle = firstObstacle() {
                switch obstacle {
                case .certain(let obstacle):
                    stopMisuse(
                        "wait() would never return: \(obstacle) (law 27). "
                            + "Wait on another thread, or use a callback or get(). "
                            + "Waited for: \(chain)", file: file, line: line)
                // Waits for the decider first: its outcome decides whether there is an obstacle.
                case .ifEnded(let decider):
                    checkMayBlock(file, line)
                    isOver = !decider.park(until: deadline)
                }
            }
            checkMayBlock(file, line)
            if !isOver, park(until: deadline) { return }
        }
        throw AsyncError.timedOut(after: timeout ?? .zero)
    }

    private func checkMayBlock(_ file: StaticString, _ line: UInt) {
        require(
            !ec_is_cooperative(),
            "wait() was called on a thread that runs Swift tasks, of which there are few (law 27). "
                + "Use 'try await get()' there; if a test drives a context by hand, run the context first. "
                + "Waited for: \(chain)", file: file, line: line)
    }

    /// Blocks the calling thread until this has completed; false if the deadline passes.
    private func park(until deadline: Int64) -> Bool {
        let waiting = WaitingThread()
        addSubscriber(waiting)
        // If this completed meanwhile, this thread may have deferred its own notification.
        DeferredCalls.run()
        if waiting.park(until: deadline) { return true }
        // Not cancelled: the caller still has the `Async`, and may wait again.
        if unsubscribe(waiting, cancelsIfLast: false) { return false }
        return waiting.park(until: Parker.never)
    }

    /// Why a thread that waits for this may wait forever.
    private enum Obstacle {
        case certain(String)
        /// Not known before this state has completed.
        case ifEnded(FutureState)
    }

    /// Why the calling thread would prevent this from completing, as far as that is known.
    private func firstObstacle() -> Obstacle? {
        var known: Set<ObjectIdentifier> = [ObjectIdentifier(self)]
        var next = [self]
        var decider: FutureState?
        while let state = next.popLast() {
            if let obstacle = state.obstacle { return .certain(obstacle) }
            if let open = state.decider { decider = decider ?? open }
            for dependency in state.dependencies {
                let source = dependency.source
                if source === self { return .certain("it waits for itself") }
                if source.isPending {
                    if known.insert(ObjectIdentifier(source)).inserted { next.append(source) }
                } else if unsafe Frame.isCurrent(source.identity),
                    source.isAwaited(by: dependency.subscriber)
                {
                    return .certain(
                        "the caller is inside a callback of what it waits for, and callbacks do not overlap"
                    )
                }
            }
        }
        return decider.map { .ifEnded($0) }
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
