#if Foundation
internal import Foundation

/// What starts operations on a context on behalf of their stand-ins.
protocol OperationTarget: AnyObject, Sendable {
    /// Runs `work` on the context; `dropped` if it refuses. A context may also drop `work`.
    func submit(_ work: @escaping Work, isBarrier: Bool, dropped: @escaping Work)
    /// Runs `work` when an operation that has been started has finished.
    func whenFinished(_ operation: Operation, _ work: @escaping Work)
    /// Runs `work` soon, on another thread.
    func soon(_ work: @escaping Work)
}

/// A proxy, queued in place of an operation that is started on a context; it finishes when that one
/// does.
///
/// Unchecked: it adds guarded state and constants to a class that is safe for threads.
final class ContextOperation: Operation, @unchecked Sendable {
    /// The state of the operation, as Foundation asks for it.
    private enum Phase { case waiting, executing, finished }

    private struct State: Sendable {
        var phase = Phase.waiting
        /// How often readiness has been asked for in vain.
        var asked = 0
        var isGoingToAsk = false
        /// The operations that depend on this one.
        var dependents: [Operation] = []
    }

    let operation: Operation
    private let isBarrier: Bool
    private let target: any OperationTarget
    private let state = Guarded(State())

    init(_ operation: Operation, for target: any OperationTarget, isBarrier: Bool = false) {
        self.operation = operation
        self.target = target
        self.isBarrier = isBarrier
        super.init()
        name = operation.name
        queuePriority = operation.queuePriority
        if operation.qualityOfService != .default { qualityOfService = operation.qualityOfService }
    }

    /// Depends on what the operation depends on.
    func followDependencies() {
        for dependency in operation.dependencies { addDependency(dependency) }
    }

    override var isAsynchronous: Bool { true }
    override var isExecuting: Bool { state.withLock { $0.phase == .executing } }
    override var isFinished: Bool { state.withLock { $0.phase == .finished } }

    /// Polls: an operation that overrides `isReady` notifies its own queue only.
    override var isReady: Bool {
        if state.withLock({ $0.phase != .waiting }) { return true }
        guard super.isReady else { return false }
        if isCancelled || operation.isReady { return true }
        askAgain()
        return false
    }

    /// The queue starts a cancelled operation too: only `start` can finish it.
    override func cancel() {
        operation.cancel()
        super.cancel()
    }

    override func start() {
        change("isExecuting") { $0.phase = .executing }
        let start = CompletionGuard(Start(operation: self))
        target.submit({ start.run() }, isBarrier: isBarrier, dropped: { start.drop() })
    }

    /// Equal to the operation, which callers look for.
    override func isEqual(_ object: Any?) -> Bool {
        guard let other = object as? Operation else { return false }
        return other === self || other === operation
    }

    override var hash: Int { operation.hash }

    private func startOperation() {
        // An operation that got a dependency late, or decides about its readiness itself, is asked
        // again: Foundation traps if one that is not ready is started.
        guard operation.isReady else {
            GlobalContext().schedule(after: .milliseconds(1)) { self.start() }
            return
        }
        operation.start()
        finishWithOperation()
    }

    private func finishWithOperation() {
        if operation.isFinished { return finish() }
        target.whenFinished(operation) { self.finish() }
    }

    /// The context has refused or dropped the start: the operation ends without having run.
    private func endWithoutRunning() {
        operation.cancel()
        target.soon {
            // A cancelled operation that is still not ready breaks Foundation's rule, and cannot be
            // started.
            guard self.operation.isReady else { return self.finish() }
            self.operation.start()
            self.finishWithOperation()
        }
    }

    /// Keeps an operation that depends on this one alive: on Linux a finishing operation notifies
    /// its dependents without retaining them.
    func keep(_ operation: Operation) {
        state.withLock { state in
            if state.phase != .finished { state.dependents.append(operation) }
        }
    }

    private func finish() {
        // A cancelled operation ends before its dependencies, which must not notify it once it is
        // freed. A finishing operation notifies all dependents under the lock that this takes.
        for dependency in dependencies { removeDependency(dependency) }
        if operation.isCancelled || operation.dependencies.contains(where: { !$0.isFinished }) {
            for dependency in operation.dependencies { operation.removeDependency(dependency) }
        }
        let dependents = state.withLock { state in
            defer { state.dependents = [] }
            return state.dependents
        }
        // Freed when they have been notified, outside the lock (law 9).
        defer { withExtendedLifetime(dependents) {} }
        willChangeValue(forKey: "isExecuting")
        change("isFinished") { $0.phase = .finished }
        didChangeValue(forKey: "isExecuting")
    }

    private func change(_ key: String, _ change: (inout State) -> Void) {
        willChangeValue(forKey: key)
        state.withLock { change(&$0) }
        didChangeValue(forKey: key)
    }

    /// Has Foundation ask once more whether it is ready: at once at first, then after longer and
    /// longer pauses.
    private func askAgain() {
        let asked: Int? = state.withLock { state in
            guard !state.isGoingToAsk else { return nil }
            state.isGoingToAsk = true
            state.asked += 1
            return state.asked
        }
        guard let asked else { return }
        let ask: Work = {
            self.state.withLock { $0.isGoingToAsk = false }
            self.willChangeValue(forKey: "isReady")
            self.didChangeValue(forKey: "isReady")
        }
        if asked < 3 { return target.soon(ask) }
        GlobalContext().schedule(after: .milliseconds(min(asked - 2, 10)), ask)
    }

    /// The right to start the operation, once.
    private struct Start: GuardedJob {
        let operation: ContextOperation

        func run() { operation.startOperation() }

        func drop() { operation.endWithoutRunning() }
    }
}
#endif
