public import Foundation

extension ExecutionContext {
    /// An operation queue whose work runs on this context, for system APIs that take one.
    ///
    /// ```swift
    /// URLSession(configuration: .default, delegate: loader, delegateQueue: context.operationQueue)
    /// ```
    ///
    /// Keep it: each call makes a new one. Its operations start when the context gets to them, after those
    /// that they depend on; the queue's own limits, priorities and suspension have no effect, since the
    /// context decides.
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
        guard operation.dependencies.contains(where: { !$0.isFinished }) else {
            return start(operation)
        }
        // A stand-in waits for what the operation depends on, in the queue proper.
        let standIn = BlockOperation { self.start(operation) }
        for dependency in operation.dependencies { standIn.addDependency(dependency) }
        super.addOperation(standIn)
    }

    override func addOperation(_ block: @escaping @Sendable () -> Void) {
        pending.enter()
        target.execute { [pending] in
            block()
            pending.leave()
        }
    }

    override func addOperations(_ operations: [Operation], waitUntilFinished wait: Bool) {
        for operation in operations { addOperation(operation) }
        if wait { for operation in operations { operation.waitUntilFinished() } }
    }

    override func addBarrierBlock(_ barrier: @escaping @Sendable () -> Void) {
        guard let context = target as? any BarrierContext else {
            preconditionFailure(
                "The operation queue of '\(target.name)' was given a barrier, which that context cannot keep "
                    + "(law 3). Take the operation queue of a barrier view of it.")
        }
        context.executeBarrier(barrier)
    }

    override func waitUntilAllOperationsAreFinished() {
        super.waitUntilAllOperationsAreFinished()
        pending.wait()
    }

    private func start(_ operation: Operation) {
        addOperation { operation.start() }
    }
}
