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
        // No scheduling point: the waiting thread looks again after it was unparked.
        let parker = parker
        _ = isNotified.exchange(true, ordering: .releasing)
        unsafe parker.unpark(by: Threads.own)
    }

    override var label: String { "a thread" }
}

/// Why a future state that the calling thread waits for cannot complete before that thread resumes,
/// unless it is cancelled or dropped.
///
/// It follows the dependencies to what has none, and then decides backwards which states may
/// complete: one that needs all of its dependencies, when all of them may; another one, when one of
/// them may. What is not known counts as what may complete. So an obstacle is certain: the calling
/// thread keeps a context busy, or keeps callbacks from being called, for as long as it waits.
private struct EndlessWait {
    private struct Node {
        let state: FutureState
        /// Why it cannot complete, if its dependencies do not decide that.
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

    /// Finds out what the state of a node needs.
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
        if mayEnd {
            nodes[index].missing = 0
        } else if needsAll {
            nodes[index].missing = missing
        } else {
            nodes[index].missing = 1
        }
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

    /// The obstacle nearest to the state that is waited for; without any, the states wait for each
    /// other.
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
    /// Whether the source has completed, and notifies the subscriber only when a callback that the
    /// caller is inside of has returned.
    fileprivate var isHeldUpByCaller: Bool {
        unsafe Frame.isCurrent(source.identity) && source.isAwaited(by: subscriber)
    }
}

extension Async {
    /// Why a wait for it could not end before the calling thread resumes; nil if it could.
    package var endlessWait: String? {
        state.isPending ? EndlessWait.obstacle(of: state) : nil
    }
}
