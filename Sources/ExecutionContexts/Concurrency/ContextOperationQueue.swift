public import Foundation

extension ExecutionContext {
    /// An operation queue whose work runs on this context, for system APIs that take one.
    ///
    /// ```swift
    /// URLSession(configuration: .default, delegate: loader, delegateQueue: context.operationQueue)
    /// ```
    ///
    /// Keep it: each call makes a new one. Its operations start when the context gets to them, after those
    /// that they depend on; the context decides, and the queue's own limits and priorities have no effect.
    public var operationQueue: OperationQueue { ContextOperationQueue(context: self) }
}

/// Sends operations and blocks to a context.
///
/// Unchecked: it adds a constant and a dispatch group, both safe for threads, to a class that is.
private final class ContextOperationQueue<Context: ExecutionContext>: OperationQueue, @unchecked Sendable {
    private let target: Context
    private let pending = DispatchGroup()

    init(context: Context) {
        target = context
        super.init()
        name = context.name
        if context is any SerialContext { maxConcurrentOperationCount = 1 }
    }

    override func addOperation(_ operation: Operation) {
        // A cancelled one is ready, whatever it depends on; starting it ends it.
        if operation.isReady { return start(operation) }
        // A stand-in waits for what the operation depends on, in the queue proper.
        super.addOperation(StandIn(operation, start: { self.startWhenReady(operation) }))
    }

    override func addOperation(_ block: @escaping @Sendable () -> Void) {
        target.execute(counted(block))
    }

    override func addOperations(_ operations: [Operation], waitUntilFinished wait: Bool) {
        for operation in operations { addOperation(operation) }
        if wait { for operation in operations { operation.waitUntilFinished() } }
    }

    override func addBarrierBlock(_ barrier: @escaping @Sendable () -> Void) {
        guard let context = target as? any BarrierContext else {
            stopMisuse(
                "The operation queue of '\(target.name)' was given a barrier, which that context cannot keep "
                    + "(law 3). Take the operation queue of a barrier view of it.")
        }
        context.executeBarrier(counted(barrier))
    }

    override func waitUntilAllOperationsAreFinished() {
        super.waitUntilAllOperationsAreFinished()
        pending.wait()
    }

    /// A block that is pending until it has run, or the context has let go of it.
    private func counted(_ block: @escaping Work) -> Work {
        let end = End(pending)
        return {
            block()
            _ = end
        }
    }

    /// Counts as pending while it lives.
    private final class End: Sendable {
        private let group: DispatchGroup

        init(_ group: DispatchGroup) {
            self.group = group
            group.enter()
        }

        deinit { group.leave() }
    }

    /// Starts an operation whose dependencies have finished.
    ///
    /// A dependency says that it has finished a few instructions before the operation says that it is ready, and
    /// Foundation traps if it is started in between. One that decides for itself when it is ready is asked again
    /// every millisecond, since Foundation tells nobody but its own queues.
    private func startWhenReady(_ operation: Operation) {
        if operation.isReady { return start(operation) }
        let end = End(pending)
        GlobalContext().schedule(after: .milliseconds(1)) {
            self.startWhenReady(operation)
            _ = end
        }
    }

    private func start(_ operation: Operation) {
        addOperation { operation.start() }
    }
}

/// Waits in a queue for what another operation depends on, and is cancelled by cancelling that one.
///
/// Unchecked: it adds constants to a class that is safe for threads.
private final class StandIn: Operation, @unchecked Sendable {
    private let operation: Operation
    private let startIt: Work

    init(_ operation: Operation, start: @escaping Work) {
        self.operation = operation
        startIt = start
        super.init()
        for dependency in operation.dependencies { addDependency(dependency) }
    }

    override func main() { startIt() }

    // It must run all the same: a cancelled operation ends by being started.
    override func cancel() { operation.cancel() }
}
