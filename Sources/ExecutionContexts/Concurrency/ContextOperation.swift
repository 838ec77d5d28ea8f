internal import Foundation

/// Where stand-ins start their operations.
protocol OperationTarget: AnyObject, Sendable {
    /// Runs `work` on the context; `lost` if it refuses. A context may also drop `work`.
    func submit(_ work: @escaping Work, isBarrier: Bool, lost: @escaping Work)
    /// Runs `work` when an operation has finished that has been started.
    func whenFinished(_ operation: Operation, _ work: @escaping Work)
    /// Runs `work` soon, on another thread.
    func soon(_ work: @escaping Work)
}

/// Stands in a queue for an operation that is started on a context, and finishes when that one
/// does.
///
/// Unchecked: it adds guarded state and constants to a class that is safe for threads.
final class ContextOperation: Operation, @unchecked Sendable {
    /// How far the operation has come, as Foundation asks for it.
    private enum Phase { case waiting, executing, finished }

    private struct State: Sendable {
        var phase = Phase.waiting
        /// How often readiness has been asked for in vain; nil while nobody is going to ask again.
        var asked = 0
        var isGoingToAsk = false
        /// What waits for this.
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

    /// Waits for what the operation waits for.
    func followDependencies() { for dependency in operation.dependencies { addDependency(dependency) } }

    override var isAsynchronous: Bool { true }
    override var isExecuting: Bool { state.withLock { $0.phase == .executing } }
    override var isFinished: Bool { state.withLock { $0.phase == .finished } }

    /// The operation itself may have a say in it, and says when it has changed its mind to its own
    /// queue only.
    override var isReady: Bool {
        if state.withLock({ $0.phase != .waiting }) { return true }
        guard super.isReady else { return false }
        if isCancelled || operation.isReady { return true }
        askAgain()
        return false
    }

    /// It must start all the same: a cancelled operation ends by being started.
    override func cancel() {
        operation.cancel()
        super.cancel()
    }

    override func start() {
        change("isExecuting") { $0.phase = .executing }
        let ticket = StartTicket(self)
        target.submit({ ticket.run() }, isBarrier: isBarrier, lost: { ticket.lose() })
    }

    /// Equal to the operation, which callers look for.
    override func isEqual(_ object: Any?) -> Bool {
        guard let other = object as? Operation else { return false }
        return other === self || other === operation
    }

    override var hash: Int { operation.hash }

    private func startOperation() {
        // One that was given a dependency late, or decides for itself, is asked again. Foundation
        // traps otherwise.
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
            // One that is cancelled and still not ready breaks Foundation's rule, and cannot be
            // started.
            guard self.operation.isReady else { return self.finish() }
            self.operation.start()
            self.finishWithOperation()
        }
    }

    /// Keeps an operation that waits for this one; what finishes on Linux tells those that wait
    /// without keeping them.
    func keep(_ operation: Operation) {
        state.withLock { state in
            if state.phase != .finished { state.dependents.append(operation) }
        }
    }

    private func finish() {
        // One that was cancelled ends before what it waited for, which must not tell it when it is
        // gone. What finishes tells all at once, under the lock that this takes.
        for dependency in dependencies { removeDependency(dependency) }
        if operation.isCancelled || operation.dependencies.contains(where: { !$0.isFinished }) {
            for dependency in operation.dependencies { operation.removeDependency(dependency) }
        }
        let dependents = state.withLock { state in
            defer { state.dependents = [] }
            return state.dependents
        }
        // Freed when they have been told, outside the lock (law 9).
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

    /// The right to start the operation, once; the context has it, and may drop it.
    private final class StartTicket: Sendable {
        private let operation: ContextOperation
        private let isUsed = Guarded(false)

        init(_ operation: ContextOperation) { self.operation = operation }

        deinit { lose() }

        func run() { if use() { operation.startOperation() } }
        func lose() { if use() { operation.endWithoutRunning() } }

        private func use() -> Bool {
            isUsed.withLock { isUsed in
                defer { isUsed = true }
                return !isUsed
            }
        }
    }
}
