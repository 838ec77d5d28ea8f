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

/// Foundation's operation queue, which decides when an operation starts; the operations start on a
/// context.
///
/// Unchecked: it adds constants and guarded state to a class that is safe for threads.
private final class ContextOperationQueue<Context: ExecutionContext>: OperationQueue,
    OperationTarget,
    @unchecked Sendable
{
    private let target: Context
    /// Whether Foundation starts operations on the context's own queue, and no stand-in is needed.
    private let runsInPlace: Bool
    /// Starts stand-ins, in order. Foundation does not retain it.
    private let starter: DispatchQueue
    /// Notifies of the end of operations that finish later than their `start` returns.
    private let completionQueue = OperationQueue()
    private let members = Guarded(OperationMembers())

    init(context: Context) {
        target = context
        let queue = context.facts.queue
        // Foundation takes any queue but the main one.
        runsInPlace = queue.map { $0 !== DispatchQueue.main } ?? false
        starter =
            queue.flatMap { $0 === DispatchQueue.main ? nil : $0 }
            ?? DispatchQueue(label: context.name)
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

    /// Returns what Foundation is to start in place of an operation, with the barrier that it must
    /// wait for.
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
        standIn.followDependencies()
        return standIn
    }

    /// Looks after a stand-in that waits for others.
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

    // MARK: - OperationTarget

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

    func whenFinished(_ operation: Operation, _ work: @escaping Work) {
        let once = CompletionGuard(Finish(work: work))
        let end = BlockOnce({ once.run() }, .default)
        end.addDependency(operation)
        completionQueue.addOperation(end)
        // A finishing operation notifies its dependents, and Foundation may miss a dependent that
        // is added at that moment, so this looks once more. A missed dependent would stay in its
        // queue for ever, and keep the operation. It leaves the queue when it is cancelled; the
        // operation must not notify it after that.
        if operation.isFinished {
            end.removeDependency(operation)
            end.cancel()
            once.run()
        }
    }

    func soon(_ work: @escaping Work) { starter.async(execute: work) }

    // MARK: - Operations cancelled while they wait

    /// Finds cancelled operations that wait for others, for as long as any wait.
    ///
    /// Foundation notifies only an operation's own queue that it was cancelled, and here the
    /// stand-in is in the queue. The more operations wait, the longer the pause, so that the cost
    /// of looking stays the same.
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

    /// Adds an operation that waits for others. True if the caller must begin to look for cancelled
    /// ones.
    mutating func addDependent(_ operation: ContextOperation) -> Bool {
        dependents.append(operation)
        defer { isLooking = true }
        return !isLooking
    }

    /// Removes the cancelled operations. `pause` is how long to wait before the next look; nil if
    /// no operation waits any more.
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
#endif
