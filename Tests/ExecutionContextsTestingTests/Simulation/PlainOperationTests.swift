import Dispatch
import ExecutionContexts
import ExecutionContextsTesting
import Foundation
import TestSupport
import Testing

/// Operation queues of Foundation in a simulation: no line of the program is changed.
@Suite(.patient, .dispatchIsSimulated)
struct PlainOperationTests {
    /// A program with a fault, and its mended twin.
    struct Program: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let kind: SimulationFailure.Kind
        let body: @Sendable (SimulatedWorld, _ isWrong: Bool) -> Void
    }

    /// An operation that ends in a job of another queue.
    private final class Load: Operation, @unchecked Sendable {
        // Unchecked: Foundation's operations are, and one thread of a simulation runs at a time.
        private let result: Tracked<Int>
        private let finishesFirst: Bool
        private let server = DispatchQueue(label: "server")
        private let isOver = Box(false)

        init(_ result: Tracked<Int>, finishesFirst: Bool) {
            (self.result, self.finishesFirst) = (result, finishesFirst)
        }

        override var isAsynchronous: Bool { true }
        override var isExecuting: Bool { !isOver.value }
        override var isFinished: Bool { isOver.value }
        override func start() {
            server.async { [self] in
                if finishesFirst { finish() }
                result.value = 7
                if !finishesFirst { finish() }
            }
        }
        private func finish() {
            willChangeValue(for: \.isFinished)
            isOver.value = true
            didChangeValue(for: \.isFinished)
        }
    }

    static let programs = [
        Program(testDescription: "two operations update one value", kind: .invariant) {
            sim, isWrong in
            let queue = OperationQueue()
            if !isWrong { queue.maxConcurrentOperationCount = 1 }
            let count = Tracked(0, name: "count")
            sim.spawn("alice") {
                for _ in 0..<2 { queue.addOperation { count.value += 1 } }
            }
            sim.finally("both") { count.value == 2 }
        },
        Program(testDescription: "a dependency is missing", kind: .invariant) { sim, isWrong in
            let queue = OperationQueue()
            let (page, shown) = (Tracked("", name: "page"), Tracked("", name: "shown"))
            sim.spawn("alice") {
                let load = BlockOperation { page.value = "news" }
                let show = BlockOperation { shown.value = page.value }
                if !isWrong { show.addDependency(load) }
                queue.addOperations([load, show], waitUntilFinished: true)
            }
            sim.finally("shown") { shown.value == "news" }
        },
        Program(testDescription: "a writer is no barrier", kind: .invariant) { sim, isWrong in
            let queue = OperationQueue()
            let (first, second) = (Tracked(0, name: "first"), Tracked(0, name: "second"))
            let wasTorn = Tracked(false, name: "torn")
            sim.spawn("alice") {
                queue.addOperation { if first.value != second.value { wasTorn.value = true } }
                @Sendable func write() {
                    first.value = 1
                    second.value = 1
                }
                if isWrong { queue.addOperation(write) } else { queue.addBarrierBlock(write) }
                queue.addOperation { if first.value != second.value { wasTorn.value = true } }
            }
            sim.finally("never torn") { !wasTorn.value }
        },
        // `waitUntilFinished` may return before the completion block has run.
        Program(testDescription: "a result is of a completion block", kind: .invariant) {
            sim, isWrong in
            let queue = OperationQueue()
            let (result, seen) = (Tracked(0, name: "result"), Tracked(0, name: "seen"))
            sim.spawn("alice") {
                let work = BlockOperation { if !isWrong { result.value = 7 } }
                if isWrong { work.completionBlock = { result.value = 7 } }
                queue.addOperation(work)
                work.waitUntilFinished()
                seen.value = result.value
            }
            sim.finally("seen") { seen.value == 7 }
        },
        Program(testDescription: "all are cancelled, one has begun", kind: .invariant) {
            sim, isWrong in
            let queue = OperationQueue()
            let (isOver, wasLate) = (Tracked(false, name: "over"), Tracked(false, name: "late"))
            sim.spawn("alice") {
                queue.addOperation { if isOver.value { wasLate.value = true } }
                queue.cancelAllOperations()
                if !isWrong { queue.waitUntilAllOperationsAreFinished() }
                isOver.value = true
            }
            sim.finally("nothing after the end") { !wasLate.value }
        },
        Program(testDescription: "an operation is finished before its result", kind: .invariant) {
            sim, isWrong in
            let queue = OperationQueue()
            let (result, seen) = (Tracked(0, name: "result"), Tracked(0, name: "seen"))
            sim.spawn("alice") {
                let load = Load(result, finishesFirst: isWrong)
                let show = BlockOperation { seen.value = result.value }
                show.addDependency(load)
                queue.addOperations([load, show], waitUntilFinished: true)
            }
            sim.finally("seen") { seen.value == 7 }
        },
        Program(testDescription: "an operation waits for its own queue", kind: .lostWakeUp) {
            sim, isWrong in
            let queue = OperationQueue()
            queue.maxConcurrentOperationCount = isWrong ? 1 : 2
            sim.spawn("alice") {
                queue.addOperation {
                    let inner = BlockOperation {}
                    queue.addOperations([inner], waitUntilFinished: true)
                }
            }
        },
        Program(testDescription: "two operations depend on each other", kind: .lostWakeUp) {
            sim, isWrong in
            let queue = OperationQueue()
            sim.spawn("alice") {
                let (one, two) = (BlockOperation {}, BlockOperation {})
                one.addDependency(two)
                if isWrong { two.addDependency(one) }
                queue.addOperations([one, two], waitUntilFinished: true)
            }
        },
    ]

    @Test(arguments: programs)
    func `Law 33: a fault over operations is found from each seed, and replayed`(program: Program)
        throws
    {
        for seed in seeds(debug: 5, release: 20) {
            let report = search(program.testDescription, schedules: 200, seed: seed) {
                program.body($0, true)
            }
            let failure = try #require(report.failure, "\(seed): \(report)")
            #expect(failure.kind == program.kind, "\(report)")
            let again = search(program.testDescription, replay: failure.token) {
                program.body($0, true)
            }
            #expect(again.failure?.trace == failure.trace, "\(again)")
        }
    }

    @Test(arguments: programs)
    func `Law 33: a sound program over operations passes`(program: Program) {
        let report = search(
            program.testDescription, schedules: rounds(debug: 300, release: 5_000),
            ignoring: [.vacuous]
        ) {
            program.body($0, false)
        }
        #expect(report.failure == nil, "\(report)")
    }

    @Test(arguments: [1, 2, 3, 8, 40])
    func `Law 33: a thread that waits for all operations polls, and lets them end`(_ count: Int) {
        for strategy in [SimulationStrategy.portfolio, .random, .priorities(depth: 3)] {
            let report = search(
                "polling", schedules: 100, strategy: strategy, ignoring: [.vacuous]
            ) { sim in
                sim.spawn("alice") {
                    let queue = OperationQueue()
                    for _ in 0..<count { queue.addOperation {} }
                    queue.waitUntilAllOperationsAreFinished()
                }
            }
            #expect(report.failure == nil, "\(report)")
        }
    }
}
