internal import CPlatform
internal import Synchronization

extension Async {
    /// Waits for the value without blocking a thread, or throws the error.
    ///
    /// If the waiting task is cancelled, this throws `CancellationError` at once and cancels
    /// nothing: the `Async` continues for later callers, as with `Task.value` (law 26). If it has
    /// completed, there is no suspension. On an actor it subscribes before another job runs there.
    @inlinable
    public nonisolated(nonsending) func get() async throws -> Value {
        // `isPending` acquires, so the outcome is visible to this task.
        while state.isPending { try await state.waitInTask(cancelsIfLast: false) }
        return try (state.outcome() as Outcome).get()
    }

    /// Waits like ``get()``, for an owner: a request of its own, not a value from a cache.
    ///
    /// Cancelling the waiting task also cancels this, if no one else is interested (law 26).
    @inlinable
    public nonisolated(nonsending) func getOrCancel() async throws -> Value {
        while state.isPending { try await state.waitInTask(cancelsIfLast: true) }
        return try (state.outcome() as Outcome).get()
    }

    /// Blocks the calling thread until completion; returns the value or throws the error (law 27).
    ///
    /// For threads that may block: a command-line tool's main thread, a thread of your own, a
    /// synchronous test. Asynchronous code cannot call it. A synchronous function that a task calls
    /// can, and then blocks one of the few threads that run Swift tasks: use `get()` or a callback.
    ///
    /// A wait without a limit that its own thread keeps from ending is reported after a second, on
    /// the standard error: on the serial context that would have to complete it, for example, or
    /// inside a callback of what it waits for. It continues, since another thread may cancel that.
    ///
    /// Without a time limit it waits as long as it takes. When the limit passes, it throws
    /// ``AsyncError/timedOut(after:)`` and cancels nothing. The time is always real. A zero or
    /// negative limit accepts only what has completed already.
    @inlinable
    @available(
        *, noasync, message: "It blocks a thread that runs tasks (law 27): use 'try await get()'."
    )
    public func wait(
        timeout: Duration? = nil, file: StaticString = #file, line: UInt = #line
    ) throws -> Value {
        if state.isPending { try state.block(timeout, file: file, line: line) }
        return try (state.outcome() as Outcome).get()
    }

    /// Why a wait for it could not end before the calling thread resumes; nil if it could.
    package var endlessWait: String? {
        state.isPending ? EndlessWait.obstacle(of: state) : nil
    }
}

extension FutureState {
    /// Suspends the task until completion; throws if the task is cancelled before that.
    @usableFromInline
    nonisolated(nonsending) final func waitInTask(cancelsIfLast: Bool) async throws {
        // Before the escalation, which raises the tasks behind this.
        if !Task.isCancelled { beginIfLazy() }
        let waiting = WaitingTask(cancelsIfLast: cancelsIfLast)
        try await withEscalationHandler { priority in
            self.escalateTasks(to: priority)
        } of: {
            try await withCancellationHandler {
                // Unsafe if resumed twice or never: it is notified once, or leaves once.
                try await unsafe withUnsafeThrowingContinuation { continuation in
                    unsafe waiting.wait(for: self, continuation)
                }
            } onCancel: {
                SimulationHooks.undivided { waiting.leaveIfSecond(self) }
            }
        }
    }

    /// Raises the priority of the tasks that this waits for, along the chains of sources.
    ///
    /// A job in the queue of a context keeps its position. Bounded, so that many waiters at the end
    /// of a chain of a million links do not each walk all of it.
    private final func escalateTasks(to priority: TaskPriority) {
        var current = self
        var others: [FutureState] = []
        for _ in 0..<256 {
            current.escalateTask(to: priority)
            if let source = current.awaited {
                current = source
            } else {
                if current is Combinator { others += current.dependencies.map(\.source) }
                guard let other = others.popLast() else { return }
                current = other
            }
        }
    }

    /// Blocks the calling thread until this has completed; throws when the time limit passes.
    @usableFromInline
    final func block(_ timeout: Duration?, file: StaticString, line: UInt) throws {
        let deadline = TimeLimit.after(timeout)
        if deadline != .min { beginIfLazy() }
        // What this thread has deferred may be what would complete this.
        DeferredCalls.run()
        if !isPending || deadline != .min && park(until: deadline, file, line) { return }
        throw AsyncError.timedOut(after: timeout ?? .zero)
    }

    /// Blocks the calling thread until this has completed; false if the deadline passes.
    private func park(until deadline: Int64, _ file: StaticString, _ line: UInt) -> Bool {
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
            } while !report(file, line)
        }
        if waiting.park(until: deadline) { return true }
        // Not cancelled: the caller still has the `Async`, and may wait again.
        if unsubscribe(waiting, cancelsIfLast: false) { return false }
        return waiting.park(until: Parker.never)
    }

    /// Reports how the caller's wait keeps this, or tasks, from continuing; false if not known.
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

@safe private final class WaitingTask: FutureSubscriber, @unchecked Sendable {
    // Unchecked: the continuation is written before this is queued, and belongs to the thread that
    // removes it from there.
    private let decision = Decision()
    private var continuation: UnsafeContinuation<Void, any Error>?
    private let cancelsIfLast: Bool

    init(cancelsIfLast: Bool) {
        self.cancelsIfLast = cancelsIfLast
        super.init()
    }

    func wait(for source: FutureState, _ continuation: UnsafeContinuation<Void, any Error>) {
        // A task that arrives cancelled is no subscriber, so a lazy source does not begin. No need
        // to acquire: the cancelling thread has written nothing else.
        if decision.wasMade {
            if cancelsIfLast { source.cancelIfUnwanted() }
            return unsafe continuation.resume(throwing: CancellationError())
        }
        unsafe self.continuation = continuation
        source.addSubscriber(self)
        leaveIfSecond(source)
    }

    /// Called when this is queued, and when the task is cancelled: the later call leaves the queue,
    /// and resumes the task with an error unless it has been notified.
    func leaveIfSecond(_ source: FutureState) {
        guard !decision.make(), source.unsubscribe(self, cancelsIfLast: cancelsIfLast) else {
            return
        }
        unsafe continuation.take()?.resume(throwing: CancellationError())
    }

    override func notify(by source: FutureState) { unsafe continuation.take()?.resume() }

    override var label: String { "a task" }
}

private final class WaitingThread: FutureSubscriber, @unchecked Sendable {
    // Unchecked: the mark is atomic, and the parker's record belongs to the waiting thread.
    private let isNotified = Atomic<Bool>(false)
    private let parker: Parker

    init() {
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
        // No scheduling point: the waiting thread looks again after it was unparked.
        let parker = parker
        _ = isNotified.exchange(true, ordering: .releasing)
        unsafe parker.unpark(by: Threads.own)
    }

    override var label: String { "a thread" }
}

/// Why a future state cannot complete before the caller, which waits for it, resumes.
///
/// It follows the dependencies to what has none, and then decides backwards which states may
/// complete: one that needs all of its dependencies, when all of them may; another one, when one of
/// them may. What is not known may complete. So an obstacle is certain: the caller keeps a context
/// busy, or keeps callbacks from being called, for as long as it waits.
private struct EndlessWait {
    private struct Node {
        let state: FutureState
        /// Why it cannot complete, whatever its dependencies do.
        var obstacle: String?
        /// How many dependencies must be found that may complete; zero if it may itself.
        var missing = 0
        /// The nodes that depend on it.
        var dependents: [Int] = []
        var dependencies: [Int] = []
    }

    private var nodes: [Node] = []
    private var indices: [ObjectIdentifier: Int] = [:]

    /// Why `state` cannot complete; nil if it may.
    static func obstacle(of state: FutureState) -> String? {
        var wait = EndlessWait()
        _ = wait.index(of: state)
        var next = 0
        while next < wait.nodes.count {
            wait.examine(next)
            next += 1
        }
        wait.decide()
        return wait.nodes[0].missing == 0 ? nil : wait.firstObstacle
    }

    private mutating func index(of state: FutureState) -> Int {
        if let known = indices[ObjectIdentifier(state)] { return known }
        indices[ObjectIdentifier(state)] = nodes.count
        nodes.append(Node(state: state))
        return nodes.count - 1
    }

    private mutating func examine(_ index: Int) {
        let state = nodes[index].state
        if state.mayEndAlone { return }
        nodes[index].obstacle = state.obstacle
        let (needsAll, dependencies) = (state.needsAll, state.dependencies)
        if needsAll && nodes[index].obstacle != nil { return nodes[index].missing = .max }
        // One that has completed and is about to notify counts as one that may complete.
        var mayEnd = dependencies.isEmpty && nodes[index].obstacle == nil
        var missing = 0
        for dependency in dependencies {
            if dependency.source.isPending {
                let source = self.index(of: dependency.source)
                nodes[index].dependencies.append(source)
                nodes[source].dependents.append(index)
                missing += 1
            } else if dependency.isHeldUpByCaller {
                nodes[index].obstacle =
                    "the caller is inside a callback of what it waits for, and callbacks do not overlap"
                missing += 1
            } else if !needsAll {
                mayEnd = true
            }
        }
        // It may have completed meanwhile.
        if !state.isPending { mayEnd = true }
        nodes[index].missing = mayEnd ? 0 : needsAll ? missing : 1
    }

    /// Finds the nodes that may complete, from those that may by themselves.
    private mutating func decide() {
        var ending = nodes.indices.filter { nodes[$0].missing == 0 }
        while let index = ending.popLast() {
            for dependent in nodes[index].dependents where nodes[dependent].missing > 0 {
                nodes[dependent].missing -= 1
                if nodes[dependent].missing == 0 { ending.append(dependent) }
            }
        }
    }

    /// An obstacle of the state that is waited for; without any, the states wait for each other.
    private var firstObstacle: String {
        var known: Set<Int> = [0]
        var next = [0]
        while let index = next.popLast() {
            if let obstacle = nodes[index].obstacle { return obstacle }
            for dependency in nodes[index].dependencies
            where nodes[dependency].missing > 0 && known.insert(dependency).inserted {
                next.append(dependency)
            }
        }
        return "it waits for itself"
    }
}

extension FutureState.Dependency {
    /// Whether the source notifies the subscriber only after a callback that the caller is in.
    fileprivate var isHeldUpByCaller: Bool {
        guard unsafe Frame.isCurrent(source.identity) else { return false }
        source.lock.lock()
        defer { source.lock.unlock() }
        return unsafe source.machine.queue.contains(subscriber)
    }
}
