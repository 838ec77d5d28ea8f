import Dispatch
import ExecutionContexts
import Foundation
import TestSupport
import Testing

/// A program that uses an operation queue and logs what it sees: the same with every queue.
struct OperationScript: Sendable, CustomTestStringConvertible {
    let name: String
    /// Runs the program with a queue and a log; it may block.
    let run: @Sendable (_ queue: OperationQueue, _ log: OperationLog) -> Void

    var testDescription: String { name }

    /// Returns what the program logs with `queue`.
    func log(of queue: OperationQueue) async -> [String] {
        let log = OperationLog()
        await offThePool { [run] in
            run(queue, log)
            queue.waitUntilAllOperationsAreFinished()
            log.note("\(queue.operationCount) operations in the end")
        }
        return log.lines
    }

    init(_ name: String, _ run: @escaping @Sendable (OperationQueue, OperationLog) -> Void) {
        self.name = name
        self.run = run
    }
}

extension OperationScript {
    static let all = [
        cancelAll, counts, waitsForAll, waitsForThese, oneAtATime, twoAtATime, dependencies,
        otherQueue,
        suspension,
        barriers, cancelOne, cancelDependent, priorities, completions, hesitant, executing,
        addsFromInside, batch,
    ]

    static let cancelAll = OperationScript("Cancelling all operations: none runs, and all end") {
        queue, log in
        queue.isSuspended = true
        let operations = (0..<5).map { index in BlockOperation { log.note("ran \(index)") } }
        for operation in operations { queue.addOperation(operation) }
        queue.cancelAllOperations()
        queue.isSuspended = false
        queue.waitUntilAllOperationsAreFinished()
        log.note(operations)
    }

    static let counts = OperationScript("Counts, and the operations in the queue") { queue, log in
        queue.isSuspended = true
        let operations = (0..<3).map { _ in BlockOperation {} }
        for operation in operations { queue.addOperation(operation) }
        queue.addOperation {}
        log.note("\(queue.operationCount) operations, \(queue.operations.count) to be seen")
        for operation in operations {
            log.note("contains: \(queue.operations.contains(operation))")
        }
        queue.isSuspended = false
        queue.waitUntilAllOperationsAreFinished()
        log.note("\(queue.operationCount) operations, \(queue.operations.count) to be seen")
    }

    static let waitsForAll = OperationScript("Waiting for all, asynchronous ones included") {
        queue, log in
        let finished = Overlap()
        for _ in 0..<20 {
            queue.addOperation(
                OpenOperation { operation in
                    DispatchQueue.global().async {
                        finished.enter()
                        operation.finish()
                    }
                })
            queue.addOperation { finished.enter() }
        }
        queue.waitUntilAllOperationsAreFinished()
        log.note("\(finished.most) have finished")
    }

    static let waitsForThese = OperationScript("Adding several and waiting for them") {
        queue, log in
        let ran = Overlap()
        let operations = (0..<10).map { _ in BlockOperation { ran.enter() } }
        queue.addOperations(operations, waitUntilFinished: true)
        log.note("\(ran.most) have run")
        log.note(operations)
    }

    static let oneAtATime = OperationScript("Asynchronous operations, one at a time") {
        queue, log in
        queue.maxConcurrentOperationCount = 1
        let overlap = Overlap()
        for index in 0..<20 {
            queue.addOperation(
                OpenOperation { operation in
                    overlap.enter()
                    log.note("began \(index)")
                    DispatchQueue.global().async {
                        log.note("ends \(index)")
                        overlap.leave()
                        operation.finish()
                    }
                })
        }
        queue.waitUntilAllOperationsAreFinished()
        log.note("\(overlap.most) at a time")
    }

    static let twoAtATime = OperationScript("Asynchronous operations, two at a time") {
        queue, log in
        queue.maxConcurrentOperationCount = 2
        let overlap = Overlap()
        let inside = Box<[OpenOperation]>([])
        for _ in 0..<20 {
            queue.addOperation(
                OpenOperation { operation in
                    overlap.enter()
                    // Each operation ends when a second one is inside.
                    let pair = inside.withValue { inside in
                        inside.append(operation)
                        defer { if inside.count == 2 { inside = [] } }
                        return inside.count == 2 ? inside : []
                    }
                    DispatchQueue.global().async {
                        for operation in pair {
                            overlap.leave()
                            operation.finish()
                        }
                    }
                })
        }
        queue.waitUntilAllOperationsAreFinished()
        log.note("\(overlap.most) at a time")
    }

    static let dependencies = OperationScript(
        "Dependencies: a chain and a diamond, added last first"
    ) {
        queue, log in
        let chain = (0..<30).map { index in BlockOperation { log.note("link \(index)") } }
        for (earlier, later) in zip(chain, chain.dropFirst()) { later.addDependency(earlier) }
        let sides = (0..<2).map { _ in BlockOperation {} }
        let foot = BlockOperation { log.note("foot: \(sides.map(\.isFinished))") }
        for side in sides {
            side.addDependency(chain.last!)
            foot.addDependency(side)
        }
        for operation in [foot] + sides + chain.reversed() { queue.addOperation(operation) }
    }

    static let otherQueue = OperationScript("A dependency in another queue") { queue, log in
        let other = OperationQueue()
        other.isSuspended = true
        let first = BlockOperation { log.note("first") }
        let second = BlockOperation { log.note("second") }
        second.addDependency(first)
        queue.addOperation(second)
        other.addOperation(first)
        log.note("ready: \(second.isReady), \(queue.operationCount) operations")
        other.isSuspended = false
    }

    static let suspension = OperationScript("Suspending and resuming") { queue, log in
        queue.isSuspended = true
        queue.maxConcurrentOperationCount = 1
        let all = (0..<3).map { index in BlockOperation { log.note("ran \(index)") } }
        for operation in all { queue.addOperation(operation) }
        log.note("suspended: \(queue.isSuspended)")
        log.note(all)
        queue.isSuspended = false
        queue.waitUntilAllOperationsAreFinished()
        log.note("suspended: \(queue.isSuspended)")
        log.note(all)
    }

    static let barriers = OperationScript("Barrier blocks") { queue, log in
        queue.isSuspended = true
        let began = Overlap()
        for round in 0..<5 {
            for _ in 0..<10 { queue.addOperation { began.enter() } }
            queue.addBarrierBlock { log.note("\(began.most) began before barrier \(round)") }
        }
        for _ in 0..<10 { queue.addOperation { began.enter() } }
        queue.isSuspended = false
        queue.waitUntilAllOperationsAreFinished()
        log.note("\(began.most) began")
    }

    static let cancelOne = OperationScript("Cancelling one of several") { queue, log in
        queue.isSuspended = true
        queue.maxConcurrentOperationCount = 1
        let all = (0..<5).map { index in BlockOperation { log.note("ran \(index)") } }
        for operation in all { queue.addOperation(operation) }
        all[2].cancel()
        queue.isSuspended = false
        queue.waitUntilAllOperationsAreFinished()
        log.note(all)
    }

    static let cancelDependent = OperationScript("Cancelling one whose dependency never ends") {
        queue, log in
        queue.maxConcurrentOperationCount = 1
        let never = BlockOperation {}
        let all = (0..<3).map { index in BlockOperation { log.note("ran \(index)") } }
        all[1].addDependency(never)
        for operation in all { queue.addOperation(operation) }
        for index in [0, 2] { all[index].waitUntilFinished() }
        all[1].cancel()
        all[1].waitUntilFinished()
        queue.waitUntilAllOperationsAreFinished()
        log.note("finished: \(all.map(\.isFinished)), cancelled: \(all.map(\.isCancelled))")
    }

    static let priorities = OperationScript("Priorities") { queue, log in
        queue.isSuspended = true
        queue.maxConcurrentOperationCount = 1
        for priority in [Operation.QueuePriority.veryLow, .normal, .veryHigh, .low, .high, .normal]
        {
            let operation = BlockOperation { log.note("ran \(priority)") }
            operation.queuePriority = priority
            queue.addOperation(operation)
        }
        queue.isSuspended = false
    }

    /// With one at a time no operation of a batch begins before the others compete.
    static let batch = OperationScript("Operations that are added together, by priority") {
        queue, log in
        queue.maxConcurrentOperationCount = 1
        let priorities: [Operation.QueuePriority] = [.veryLow, .normal, .low, .veryHigh, .high]
        for _ in 0..<5 {
            let operations = priorities.map { priority in
                let operation = BlockOperation { log.note("priority \(priority.rawValue)") }
                operation.queuePriority = priority
                return operation
            }
            queue.addOperations(operations, waitUntilFinished: true)
        }
    }

    static let completions = OperationScript("Completion blocks, also of cancelled ones") {
        queue, log in
        queue.isSuspended = true
        let all = (0..<4).map { _ in BlockOperation {} }
        let group = DispatchGroup()
        let completed = Overlap()
        for operation in all {
            group.enter()
            operation.completionBlock = {
                completed.enter()
                group.leave()
            }
            queue.addOperation(operation)
        }
        all[1].cancel()
        queue.isSuspended = false
        group.wait()
        log.note("\(completed.most) completed")
    }

    static let hesitant = OperationScript("An operation with its own isReady") { queue, log in
        queue.maxConcurrentOperationCount = 1
        let first = HesitantOperation { log.note("hesitant") }
        let second = BlockOperation { log.note("second") }
        queue.addOperation(first)
        queue.addOperation(second)
        // It does not delay the next operation.
        second.waitUntilFinished()
        first.agree()
    }

    static let executing = OperationScript("The state that a running operation sees") {
        queue, log in
        let operation = BlockOperation()
        operation.addExecutionBlock { [unowned operation] in
            log.note("executing \(operation.isExecuting), finished \(operation.isFinished)")
            log.note("\(queue.operationCount) operations")
        }
        queue.addOperation(operation)
    }

    static let addsFromInside = OperationScript("An operation that adds another one") {
        queue, log in
        queue.addOperation {
            log.note("outer")
            queue.addOperation { log.note("inner") }
        }
    }
}
