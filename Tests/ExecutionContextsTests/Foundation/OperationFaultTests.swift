import ExecutionContexts
import ExecutionContextsTesting
import Foundation
import TestSupport
import Testing

/// The operation queue of a context, where operations are cancelled, are barriers or are dropped.
@Suite(.patient)
struct OperationFaultTests {
    @Test func `Cancelling all ends an operation before the one that it depends on ends`() async {
        for _ in 0..<50 {
            let queue = GlobalContext().operationQueue
            let first = BlockOperation {}
            await withCheckedContinuation { continuation in
                let second = BlockOperation { Issue.record("It was cancelled.") }
                second.addDependency(first)
                second.completionBlock = { continuation.resume() }
                queue.addOperation(second)
                queue.cancelAllOperations()
            }
            // The dependent operation has ended.
            queue.addOperation(first)
            await waitForAll(queue)
            #expect(first.isFinished)
        }
    }

    @Test func `Waiting for all operations also waits for barrier blocks`() async {
        let log = Box<[Int]>([])
        let base = BarrierQueueContext(name: "barriers")
        let queue = base.operationQueue
        base.queue.suspend()
        queue.addBarrierBlock { log.withValue { $0.append(1) } }
        let done = Task { await waitForAll(queue) { log.withValue { $0.append(2) } } }
        await withCheckedContinuation { continuation in
            DispatchQueue.global().async {
                base.queue.resume()
                continuation.resume()
            }
        }
        await done.value
        #expect(log.value == [1, 2])
    }

    @Test func `Waiting for all operations ends, also if the context drops one`() async {
        let queue = ClosureContext(name: "dropping") { _ in }.operationQueue
        queue.addOperation {}
        await waitForAll(queue)
    }

    @Test func `Operations start after their dependencies, in whichever order they are added`()
        async
    {
        for _ in 0..<40 {
            let log = Box<[Int]>([])
            let queue = GlobalContext().operationQueue
            let operations = (0..<50).map { index in
                BlockOperation { log.withValue { $0.append(index) } }
            }
            for (earlier, later) in zip(operations, operations.dropFirst()) {
                later.addDependency(earlier)
            }
            for operation in operations.shuffled() { queue.addOperation(operation) }
            await waitForAll(queue)
            #expect(log.value == Array(0..<50))
        }
    }

    private func waitForAll(_ queue: OperationQueue, then: @escaping Work = {}) async {
        await withCheckedContinuation { continuation in
            // It blocks, so it must not run on a thread of the cooperative pool.
            Thread {
                queue.waitUntilAllOperationsAreFinished()
                then()
                continuation.resume()
            }.start()
        }
    }
}
