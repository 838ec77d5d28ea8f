import Dispatch
import ExecutionContexts
import ExecutionContextsTesting
import Foundation
import TestSupport
import Testing

/// Compares the operation queue of every context with Foundation's: the same script gives the same
/// log.
@Suite(.serialized, .patient)
struct OperationQueueTests {
    /// Every context that runs by itself, and views that do not submit jobs directly to a queue.
    private static let subjects: [Subject] =
        Subject.bases.filter { $0.make().drive == nil }
        + Subject.views.filter {
            ["global, serial", "own serial queue, named", "pool, limited"].contains($0.name)
        }

    @Test(arguments: OperationScript.all, subjects)
    func `An operation queue behaves like Foundation's`(
        _ script: OperationScript, _ subject: Subject
    ) async {
        let context = subject.make().context
        let theirs = OperationQueue()
        if context is any SerialContext { theirs.maxConcurrentOperationCount = 1 }
        let (ours, expected) = await (
            script.log(of: context.operationQueue), script.log(of: theirs)
        )
        #expect(ours == expected)
    }

    @Test(arguments: subjects)
    func `Operations run on the context`(_ subject: Subject) async {
        let context = subject.make().context
        let isCurrent = Box<[Bool?]>([])
        let queue = context.operationQueue
        await offThePool {
            queue.addOperation { isCurrent.withValue { $0.append(context.isCurrent) } }
            queue.addOperation(
                BlockOperation { isCurrent.withValue { $0.append(context.isCurrent) } })
            queue.addBarrierBlock { isCurrent.withValue { $0.append(context.isCurrent) } }
            queue.waitUntilAllOperationsAreFinished()
        }
        // Law 4: for its own jobs a context never answers no.
        #expect(isCurrent.value.count == 3 && !isCurrent.value.contains(false))
    }

    @Test func `OperationQueue.current is this queue if the context is over a dispatch queue`()
        async
    {
        let contexts: [any ExecutionContext] = [
            SerialQueueContext(name: "serial"), BarrierQueueContext(name: "barrier"),
            DispatchQueue(label: "queue").context,
        ]
        for context in contexts {
            let queue = context.operationQueue
            let isCurrent = Box(false)
            await offThePool {
                queue.addOperation { isCurrent.value = OperationQueue.current === queue }
                queue.waitUntilAllOperationsAreFinished()
            }
            #expect(isCurrent.value, "\(context.name)")
        }
    }

    @Test func `Law 3: a barrier block excludes other jobs of a context with barriers`() async {
        let context = BarrierQueueContext(name: "barriers")
        let queue = context.operationQueue
        let overlap = Overlap()
        await offThePool {
            for _ in 0..<50 {
                for _ in 0..<4 {
                    context.execute {
                        overlap.enter()
                        overlap.leave()
                    }
                }
                queue.addBarrierBlock {
                    for _ in 0..<2 { overlap.enter() }
                    for _ in 0..<2 { overlap.leave() }
                    precondition(overlap.isEmpty, "Law 3: nothing runs beside a barrier.")
                }
            }
            queue.waitUntilAllOperationsAreFinished()
        }
    }

    @Test(arguments: 0..<20)
    func `Random operations with dependencies, cancels and barriers all end, in the required order`(
        _ seed: Int
    ) async {
        let names = [
            "global", "global, serial", "own serial queue", "own barrier queue", "pool, limited",
            "actor",
        ]
        let subject = Self.subjects.first { $0.name == names[seed % names.count] }!
        let queue = subject.make().context.operationQueue
        await offThePool {
            var rng = SeededRNG(seed: UInt64(seed))
            let finished = Box(Set<Int>())
            var operations: [Operation] = []
            var barriers = 0
            let ranBarriers = Box(0)
            for index in 0..<60 {
                let needed = (0..<rng.next(below: 3)).map { _ in rng.next(below: index + 1) }.filter
                {
                    $0 < index
                }
                let body: @Sendable () -> Void = { [operations] in
                    // A cancelled operation counts as finished, and so do its dependencies.
                    for other in needed where !operations[other].isFinished {
                        Issue.record("\(index) ran before \(other), seed \(seed)")
                    }
                    finished.withValue { _ = $0.insert(index) }
                }
                let operation: Operation =
                    rng.next(below: 3) == 0
                    ? OpenOperation { operation in
                        body()
                        DispatchQueue.global().async { operation.finish() }
                    } : BlockOperation(block: body)
                for other in needed { operation.addDependency(operations[other]) }
                operations.append(operation)
            }
            var order = Array(operations.indices)
            for index in order.indices.reversed() {
                order.swapAt(index, rng.next(below: index + 1))
            }
            for index in order {
                queue.addOperation(operations[index])
                if rng.next(below: 6) == 0 {
                    operations[rng.next(below: operations.count)].cancel()
                }
                if rng.next(below: 9) == 0 {
                    queue.maxConcurrentOperationCount = 1 + rng.next(below: 4)
                }
            }
            queue.waitUntilAllOperationsAreFinished()
            // Barriers are added only when all operations are in the queue. A barrier waits for the
            // queued operations, and these may wait for operations that are not queued yet.
            for _ in 0..<rng.next(below: 4) {
                barriers += 1
                queue.addBarrierBlock { ranBarriers.withValue { $0 += 1 } }
                queue.addOperation {}
            }
            queue.waitUntilAllOperationsAreFinished()
            #expect(operations.allSatisfy { $0.isFinished })
            #expect(ranBarriers.value == barriers)
            #expect(queue.operationCount == 0)
            for (index, operation) in operations.enumerated() where !operation.isCancelled {
                #expect(finished.value.contains(index))
            }
        }
    }
}
