import Dispatch
import ExecutionContexts
import Foundation
import Synchronization

/// Operations on the operation queue of a context.
///
/// These are blocks and asynchronous operations, with dependencies and cancellation.
enum Operations {
    static func round(_ rng: inout SeededRNG) -> Int {
        let (context, _) = Contexts.any(&rng)
        let queue = context.operationQueue
        let count = 5 + rng.next(below: 60)
        let round = Round("operations")
        // Retained until all have finished: on Linux an operation does not retain its dependents.
        var operations: [Operation] = []
        for number in 0..<count {
            let ended = round.expect("the end of operation \(number)")
            let operation: Operation =
                if rng.next(below: 2) == 0 { BlockOperation {} } else {
                    LateOperation(after: rng.next(below: 3))
                }
            operation.completionBlock = { ended() }
            if rng.next(below: 4) == 0, let earlier = operations.last {
                operation.addDependency(earlier)
            }
            operations.append(operation)
            queue.addOperation(operation)
            if rng.next(below: 8) == 0 { operations[rng.next(below: operations.count)].cancel() }
        }
        if rng.next(below: 8) == 0 { queue.cancelAllOperations() }
        queue.waitUntilAllOperationsAreFinished()
        for operation in operations where !operation.isFinished {
            round.check(false, "the queue reported that all had finished, and one had not")
        }
        round.finish()
        return count
    }
}

/// An operation that another thread finishes.
private final class LateOperation: Operation, @unchecked Sendable {
    // Unchecked: `phase` is atomic, `delay` is constant, and Foundation guards the rest.
    private let phase = Atomic<UInt8>(0)
    private let delay: Int

    /// Makes an operation that finishes in `start` (0), on another thread (1), or later.
    init(after delay: Int) { self.delay = delay }

    override var isAsynchronous: Bool { true }
    override var isExecuting: Bool { phase.load(ordering: .acquiring) == 1 }
    override var isFinished: Bool { phase.load(ordering: .acquiring) == 2 }

    override func start() {
        if isCancelled { return finish() }
        change("isExecuting", to: 1)
        switch delay {
        case 0: finish()
        case 1: DispatchQueue.global().async { self.finish() }
        default:
            DispatchQueue.global().asyncAfter(deadline: .now() + .microseconds(200)) {
                self.finish()
            }
        }
    }

    private func finish() {
        willChangeValue(forKey: "isExecuting")
        change("isFinished", to: 2)
        didChangeValue(forKey: "isExecuting")
    }

    private func change(_ key: String, to value: UInt8) {
        willChangeValue(forKey: key)
        // Releasing: a thread that sees the new phase sees the writes before it.
        phase.store(value, ordering: .releasing)
        didChangeValue(forKey: key)
    }
}
