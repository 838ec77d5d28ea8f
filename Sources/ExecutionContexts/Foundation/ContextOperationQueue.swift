#if Foundation
internal import Dispatch
public import Foundation

extension ExecutionContext {
    /// An operation queue that runs its operations on this context, for system APIs that take one.
    ///
    /// ```swift
    /// URLSession(configuration: .default, delegate: loader, delegateQueue: context.operationQueue)
    /// ```
    ///
    /// Keep it: each call makes a new one. It behaves as any `OperationQueue` does: dependencies,
    /// barriers, suspension, priorities, limits, counts, cancelling, waiting. On a serial context
    /// one operation runs at a time, asynchronous ones included, unless you set
    /// `maxConcurrentOperationCount`. The context adds its own order and limits.
    ///
    /// - An operation that the context refuses or drops is cancelled, and ends.
    /// - `OperationQueue.current` is this queue inside operations of a context over a dispatch
    ///   queue: `.serial(named:)`, `.barrier(named:)`, `queue.context`. Elsewhere Foundation
    ///   decides, and it is not this queue.
    /// - Other contexts put a stand-in into `operations` for each operation; it is equal to that
    ///   operation.
    /// - A barrier block on a context with barriers is a barrier of the context as well (law 3).
    public var operationQueue: OperationQueue { ContextOperationQueue(context: self) }
}

/// Foundation's operation queue decides when an operation starts, and a context starts it.
///
/// Unchecked: it adds constants and guarded state to a class that is safe for threads.
private final class ContextOperationQueue: OperationQueue, @unchecked Sendable {
    private let target: any ExecutionContext
    /// Whether Foundation starts operations on the context's own queue, and no stand-in is needed.
    private let runsInPlace: Bool
    /// Starts stand-ins, in order. Foundation does not retain it.
    private let starter: DispatchQueue
    /// Notifies of the end of operations that finish later than their `start` returns.
    private let completionQueue = OperationQueue()
    private let members = Guarded(OperationMembers())

    init(context: some ExecutionContext) {
        target = context
        // Foundation takes any queue but the main one.
        let queue = context.facts.queue.flatMap { $0 === DispatchQueue.main ? nil : $0 }
        runsInPlace = queue != nil
        starter = queue ?? DispatchQueue(label: context.name)
        super.init()
        name = context.name
        unsafe underlyingQueue = starter
        if context is any SerialContext { maxConcurrentOperationCount = 1 }
    }

    override func addOperation(_ operation: Operation) {
        // Should Foundation add a batch one by one, it gets here with what `prepare` has made.
        if operation is ContextOperation { return super.addOperation(operation) }
        let prepared = prepare(operation)
        super.addOperation(prepared)
        didAdd(prepared)
    }

    override func addOperation(_ block: @escaping @Sendable () -> Void) {
        addOperation(BlockOnce(block, qualityOfService))
    }

    /// Adds all before the first begins, so that they compete by priority.
    override func addOperations(_ operations: [Operation], waitUntilFinished wait: Bool) {
        let prepared = operations.map { prepare($0) }
        super.addOperations(prepared, waitUntilFinished: false)
        for operation in prepared { didAdd(operation) }
        if wait { for operation in operations { operation.waitUntilFinished() } }
    }

    /// Returns what Foundation starts in place of an operation, after the barrier before it.
    private func prepare(_ operation: Operation) -> Operation {
        require(
            !operation.isExecuting && !operation.isFinished,
            "An operation that is executing or has finished was added to the queue of '\(target.name)' (law 1). "
                + "Make a new operation for each run.")
        SimulationHooks.willSubmitOutside(to: target.name)
        if runsInPlace {
            let barrier = members.withLock { $0.add(operation) }
            if let barrier {
                barrier.keep(operation)
                operation.addDependency(barrier)
            }
            return operation
        }
        let standIn = ContextOperation(operation, for: self)
        let barrier = members.withLock { $0.add(standIn) }
        if let barrier { standIn.addDependency(barrier) }
        for dependency in operation.dependencies { standIn.addDependency(dependency) }
        return standIn
    }

    /// Looks for cancelled operations while a stand-in waits.
    private func didAdd(_ prepared: Operation) {
        guard let standIn = prepared as? ContextOperation else { return }
        let mustLook = !standIn.isReady && members.withLock { $0.addDependent(standIn) }
        if mustLook { lookForCancelled() }
    }

    override func addBarrierBlock(_ barrier: @escaping @Sendable () -> Void) {
        let operation = ContextOperation(
            BlockOnce(barrier, qualityOfService), for: self, isBarrier: true)
        let earlier = members.withLock { $0.addBarrier(operation) }
        for other in earlier { operation.addDependency(other) }
        super.addOperation(operation)
    }

    // MARK: - For the stand-ins

    /// Runs `work` on the context; `dropped` if it refuses. A context may also drop `work`.
    func submit(_ work: @escaping Work, isBarrier: Bool, dropped: @escaping Work) {
        if isBarrier, let context = target as? any BarrierContext {
            context.executeBarrier(work)
        } else if runsInPlace {
            // A barrier among the operations of a dispatch queue, on a thread of that queue.
            work()
        } else {
            target.execute(work, refused: { _ in dropped() })
        }
    }

    /// Runs `work` when an operation that has been started has finished.
    func whenFinished(_ operation: Operation, _ work: @escaping Work) {
        let once = CompletionGuard(Finish(work: work))
        let end = BlockOnce({ once.run() }, .default)
        end.addDependency(operation)
        completionQueue.addOperation(end)
        // Foundation may miss a dependent that is added while the operation finishes, so this looks
        // once more. A missed dependent would stay in its queue for ever, and keep the operation.
        // It leaves the queue when it is cancelled; the operation must not notify it after that.
        if operation.isFinished {
            end.removeDependency(operation)
            end.cancel()
            once.run()
        }
    }

    /// Runs `work` soon, on another thread.
    func soon(_ work: @escaping Work) { starter.async(execute: work) }

    // MARK: - Operations cancelled while they wait

    /// Finds cancelled operations that wait for others, for as long as any wait.
    ///
    /// Foundation notifies only an operation's own queue that it was cancelled, and here the
    /// stand-in is in the queue. The more operations wait, the longer the pause, at the same cost.
    private func lookForCancelled() {
        let (cancelled, pause) = members.withLock { $0.takeCancelledDependents() }
        for operation in cancelled { operation.cancel() }
        guard let pause else { return }
        GlobalContext().schedule(after: pause) { self.lookForCancelled() }
    }
}

/// The operations that a barrier waits for, and those that wait for a barrier.
private struct OperationMembers {
    private var all = WeakOperations<Operation>()
    private var dependents = WeakOperations<ContextOperation>()
    private var isLooking = false
    private weak var barrier: ContextOperation?

    /// Adds an operation; returns the barrier that it must wait for, if there is one.
    mutating func add(_ operation: Operation) -> ContextOperation? {
        all.append(operation)
        return barrier.flatMap { $0.isFinished ? nil : $0 }
    }

    /// Adds a barrier; returns the operations that it must wait for.
    mutating func addBarrier(_ operation: ContextOperation) -> [Operation] {
        let earlier = all.alive.filter { !$0.isFinished }
        all = WeakOperations()
        all.append(operation)
        barrier = operation
        return earlier
    }

    /// Adds an operation that waits; true if the caller must begin to look for cancelled ones.
    mutating func addDependent(_ operation: ContextOperation) -> Bool {
        dependents.append(operation)
        defer { isLooking = true }
        return !isLooking
    }

    /// Removes the cancelled operations. `pause` is that before the next look; nil if none waits.
    mutating func takeCancelledDependents() -> (cancelled: [ContextOperation], pause: Duration?) {
        let waiting = dependents.alive.filter { !$0.isReady }
        let cancelled = waiting.filter { $0.operation.isCancelled }
        dependents = WeakOperations(waiting.filter { !$0.operation.isCancelled })
        isLooking = !dependents.isEmpty
        guard isLooking else { return (cancelled, nil) }
        return (cancelled, max(.milliseconds(10), .microseconds(100 * dependents.count)))
    }
}

/// Operations that are not kept alive; dead references are removed at intervals.
private struct WeakOperations<Member: Operation> {
    private struct Reference { weak var operation: Member? }

    private var references: [Reference] = []
    private var limit = 64

    init(_ operations: [Member] = []) { references = operations.map { Reference(operation: $0) } }

    var isEmpty: Bool { references.isEmpty }
    var count: Int { references.count }
    var alive: [Member] { references.compactMap(\.operation) }

    mutating func append(_ operation: Member) {
        if references.count >= limit {
            references.removeAll { $0.operation?.isFinished ?? true }
            limit = max(64, 2 * references.count)
        }
        references.append(Reference(operation: operation))
    }
}

/// A closure as an operation, which releases it when it has run (law 10).
///
/// Not a `CompletionGuard`: Foundation runs an operation once, and a dropped one reports nothing.
///
/// Unchecked: `block` is taken by the thread that the operation runs on.
private final class BlockOnce: Operation, @unchecked Sendable {
    private var block: Work?

    init(_ block: @escaping Work, _ quality: QualityOfService) {
        self.block = block
        super.init()
        if quality != .default { qualityOfService = quality }
    }

    override func main() { block.take()?() }
}

/// A closure that the first of several callers runs; freed when it has run (law 10).
private struct Finish: GuardedJob {
    var work: Work?

    mutating func run() { work.take()?() }

    mutating func drop() { work = nil }
}

/// A stand-in for an operation that is started on a context; it finishes when that one does.
///
/// Unchecked: it adds guarded state and constants to a class that is safe for threads.
private final class ContextOperation: Operation, @unchecked Sendable {
    private enum Phase { case waiting, executing, finished }

    private struct State: Sendable {
        var phase = Phase.waiting
        /// How often Foundation has found the operation not ready.
        var refusals = 0
        var isNotifying = false
        /// The operations that depend on this one.
        var dependents: [Operation] = []
    }

    let operation: Operation
    private let isBarrier: Bool
    private let target: ContextOperationQueue
    private let state = Guarded(State())

    init(_ operation: Operation, for target: ContextOperationQueue, isBarrier: Bool = false) {
        self.operation = operation
        self.target = target
        self.isBarrier = isBarrier
        super.init()
        name = operation.name
        queuePriority = operation.queuePriority
        if operation.qualityOfService != .default { qualityOfService = operation.qualityOfService }
    }

    override var isAsynchronous: Bool { true }
    override var isExecuting: Bool { state.withLock { $0.phase == .executing } }
    override var isFinished: Bool { state.withLock { $0.phase == .finished } }

    /// Polls: an operation that overrides `isReady` notifies its own queue only.
    override var isReady: Bool {
        if state.withLock({ $0.phase != .waiting }) { return true }
        guard super.isReady else { return false }
        if isCancelled || operation.isReady { return true }
        notifyAgain()
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
        // Foundation traps if an operation is started that got a dependency late, or decides about
        // its readiness itself, and is not ready.
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
            // If it is not ready though cancelled, it breaks Foundation's rule, and cannot start.
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

    /// Makes Foundation query `isReady` again: at once at first, then after growing pauses.
    private func notifyAgain() {
        let refusals: Int? = state.withLock { state in
            guard !state.isNotifying else { return nil }
            state.isNotifying = true
            state.refusals += 1
            return state.refusals
        }
        guard let refusals else { return }
        let notify: Work = {
            self.state.withLock { $0.isNotifying = false }
            self.willChangeValue(forKey: "isReady")
            self.didChangeValue(forKey: "isReady")
        }
        if refusals < 3 { return target.soon(notify) }
        GlobalContext().schedule(after: .milliseconds(min(refusals - 2, 10)), notify)
    }

    /// The right to start the operation, once.
    private struct Start: GuardedJob {
        let operation: ContextOperation

        func run() { operation.startOperation() }

        func drop() { operation.endWithoutRunning() }
    }
}
#endif
