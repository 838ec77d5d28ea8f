import Dispatch
import ExecutionContexts
import ExecutionContextsTesting
import Foundation
import TestSupport
import Testing

/// Waits for a resource that the caller itself holds: a read, a section, a permit, a thread, a
/// target, an operation (law 27).
@Suite(.patient)
struct EndlessResourceTests {
    /// Programs whose wait never ends.
    enum Program: Int, CaseIterable, Sendable {
        case read, readOver, jobOver, writeContext, writingView
        case twice, twiceBeforeBarrier
        case blocking, blockingTwo, blockingThroughOther, pool, poolBounded, poolSerial
        case operation, foreignOperation, operationMain
        case target, targetSync, deepTarget, mainTarget, heldTarget, heldTargetSync, heldTargetHold
        case section, serialSection

        /// What the message names, besides the law.
        var names: [String] {
            switch self {
            case .read, .readOver: ["'v'", "a read of 'store'", "has ended"]
            case .jobOver: ["'v'", "'base'"]
            case .writeContext: ["'v'", "'write context'"]
            case .writingView: ["'v'", "a read of 'store'"]
            case .twice, .twiceBeforeBarrier: ["'v'", "the last job that 'two'"]
            case .blocking, .blockingTwo, .blockingThroughOther:
                ["'v'", "the last job that 'files'"]
            case .pool, .poolBounded, .poolSerial: ["'v'", "the last job that 'workers'"]
            case .operation, .foreignOperation: ["'v'", "'operations'", "at a time"]
            case .operationMain, .mainTarget: ["'v'", "'main'"]
            case .target, .deepTarget, .heldTarget: ["'v'", "'below'"]
            case .targetSync, .heldTargetSync, .heldTargetHold: ["'above'", "'below'"]
            case .section, .serialSection: ["'v'", "the section 'accounts'", "left"]
            }
        }

        /// Never returns. Runs on a thread of its own, or on the main queue.
        func run() {
            switch self {
            case .read, .readOver, .jobOver, .writeContext, .writingView: runCoordinator()
            case .twice, .twiceBeforeBarrier: runLimiter()
            case .blocking, .blockingTwo, .blockingThroughOther: runBlocking()
            case .pool, .poolBounded, .poolSerial: runPool()
            case .operation, .foreignOperation, .operationMain: runOperation()
            case .section:
                Self.inSection { GlobalContext().exclusive($0).serial(named: "v").sync {} }
            case .serialSection:
                Self.inSection {
                    SerialQueueContext(name: "base").exclusive($0).serial(named: "v").sync {}
                }
            default: runTarget()
            }
        }

        private func runCoordinator() {
            let base = BarrierQueueContext(name: "base")
            let queue = SerialQueueContext(name: "write context")
            let plain = ReadWriteCoordinator(name: "store")
            let over = ReadWriteCoordinator(name: "store", over: base)
            let onQueue = ReadWriteCoordinator(name: "store", writesOn: queue)
            switch self {
            case .read: plain.read { plain.writing.serial(named: "v").sync {} }
            case .readOver: over.read { over.writing.serial(named: "v").sync {} }
            case .jobOver: base.execute { over.writing.serial(named: "v").sync {} }
            case .writeContext: queue.execute { onQueue.writing.serial(named: "v").sync {} }
            default: plain.read { plain.writing.limited(to: 2).serial(named: "v").sync {} }
            }
        }

        private func runLimiter() {
            let limited = ImmediateContext().limited(to: 2, named: "two")
            let barrier = ImmediateContext().barrier(named: "two")
            if self == .twice {
                limited.execute { limited.execute { limited.serial(named: "v").sync {} } }
            } else {
                barrier.execute {
                    barrier.execute {
                        barrier.executeBarrier {}
                        barrier.serial(named: "v").sync {}
                    }
                }
            }
        }

        private func runBlocking() {
            let one = BlockingContext(limit: 1, name: "files")
            let two = BlockingContext(limit: 2, name: "files")
            switch self {
            case .blocking: one.execute { one.limited(to: 1).serial(named: "v").sync {} }
            case .blockingTwo:
                two.execute {
                    two.limited(to: 4).serial(named: "first").sync {
                        two.limited(to: 4).serial(named: "v").sync {}
                    }
                }
            default:
                // The body runs on another thread, and waits there for a second job of `one`.
                let queue = DispatchQueue(label: "other").context
                let other = ClosureContext { queue.execute($0) }
                one.execute {
                    other.serial().sync { one.limited(to: 1).serial(named: "v").sync {} }
                }
            }
        }

        private func runPool() {
            let pool = WorkerPool(name: "workers", width: 1, limit: 1)
            pool.execute {
                switch self {
                case .pool: pool.limited(to: 1).serial(named: "v").sync {}
                case .poolBounded: pool.bounded(to: 5, overflow: .refuse).serial(named: "v").sync {}
                default: pool.prioritized(.low).limited(to: 1).serial(named: "v").sync {}
                }
            }
        }

        private func runOperation() {
            let queue = self == .operationMain ? OperationQueue.main : OperationQueue()
            if self != .operationMain { queue.name = "operations" }
            queue.maxConcurrentOperationCount = 1
            let context = queue.context
            if self == .foreignOperation {
                queue.addOperation { context.serial(named: "v").sync {} }
            } else {
                context.execute { context.serial(named: "v").sync {} }
            }
        }

        private func runTarget() {
            let below = SerialQueueContext(name: "below")
            let middle = SerialQueueContext(name: "middle", target: below.queue)
            let above = SerialQueueContext(name: "above", target: below.queue)
            let top = SerialQueueContext(name: "top", target: middle.queue)
            let onMain = SerialQueueContext(name: "on main", target: .main)
            switch self {
            case .target: below.execute { above.serial(named: "v").sync {} }
            case .targetSync: below.execute { above.sync {} }
            case .deepTarget: below.execute { top.serial(named: "v").sync {} }
            case .mainTarget: MainContext().execute { onMain.serial(named: "v").sync {} }
            default:
                let hold = below.hold()
                switch self {
                case .heldTarget: above.serial(named: "v").sync {}
                case .heldTargetSync: above.sync {}
                default: above.hold().release()
                }
                hold.release()
            }
        }

        private static func inSection(_ body: @escaping @Sendable (CriticalSection) -> Void) {
            let section = CriticalSection(name: "accounts")
            section.execute { body(section) }
        }
    }

    #if compiler(>=6.3)
    @Test(arguments: Program.allCases.map(\.rawValue))
    func `Law 27: a wait for a resource that the caller holds traps with a message`(
        _ choice: Int
    ) async throws {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent])
        {
            [choice = choice as Int] in
            let program = try #require(Program(rawValue: choice))
            Thread.detachNewThread { program.run() }
            // If the wait hangs, the process exits with success, which fails the test.
            await expire()
        }
        try expectTrap(result, "law 27", "never end", "execute or run")
        for name in try #require(Program(rawValue: choice)).names { try expectTrap(result, name) }
    }
    #endif
}

/// Ends the process with success if nothing else has ended it.
private func expire() async {
    let clock = ContextClock(GlobalContext().time)
    try? await clock.sleep(for: Patience.event)
    exit(EXIT_SUCCESS)
}
