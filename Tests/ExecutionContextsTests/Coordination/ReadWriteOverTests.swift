import Dispatch
import ExecutionContexts
import ExecutionContextsTesting
import Foundation
import TestSupport
import Testing

/// Coordinators over a caller's own context, whose barriers exclude readers and writers.
@Suite(.patient)
struct ReadWriteOverTests {
    enum Base: CaseIterable {
        case barrierQueue, serialQueue, serialView, named

        var coordinator: ReadWriteCoordinator {
            switch self {
            case .barrierQueue: ReadWriteCoordinator(over: .barrier(named: "base"))
            case .serialQueue: ReadWriteCoordinator(over: .serial(named: "base"))
            case .serialView: ReadWriteCoordinator(over: GlobalContext().serial(named: "base"))
            case .named: ReadWriteCoordinator(name: "mine", over: .barrier(named: "base"))
            }
        }
    }

    @Test(arguments: Base.allCases)
    func `Law 17: over a context, each read sees whole writes and its thread's own`(_ base: Base)
        async
    {
        let coordinator = base.coordinator
        // Unsafe in name only: what the coordinator guards.
        nonisolated(unsafe) var (left, right) = (0, 0)
        let wrong = Box(0)
        await offThePool {
            onThreads(4) {
                // As above.
                nonisolated(unsafe) var mine = 0
                for step in 1...500 {
                    if step % 3 == 0 {
                        coordinator.blockingWrite {
                            unsafe (left, right, mine) = (left + 1, right + 1, mine + 1)
                        }
                    } else {
                        coordinator.enqueueWrite {
                            unsafe (left, right, mine) = (left + 1, right + 1, mine + 1)
                        }
                    }
                    let isRight = coordinator.read { unsafe left == right && mine == step }
                    if !isRight { wrong.withValue { $0 += 1 } }
                }
            }
        }
        #expect(wrong.value == 0)
        #expect(coordinator.read { unsafe left } == 2_000)
    }

    @Test(arguments: Base.allCases)
    func `Law 18: over a context, nested accesses run at once, even while a write waits`(
        _ base: Base
    ) async {
        let coordinator = base.coordinator
        let log = Box<[String]>([])
        await offThePool {
            coordinator.read {
                coordinator.enqueueWrite { log.withValue { $0.append("write") } }
                coordinator.read { log.withValue { $0.append("inner") } }
                log.withValue { $0.append("outer") }
            }
            coordinator.blockingWrite {
                coordinator.read { log.withValue { $0.append("read in write") } }
                coordinator.blockingWrite { log.withValue { $0.append("write in write") } }
                coordinator.enqueueWrite { log.withValue { $0.append("later") } }
                log.withValue { $0.append("end") }
            }
            coordinator.read {}
        }
        #expect(
            log.value == [
                "inner", "outer", "write", "read in write", "write in write", "end", "later",
            ])
    }

    @Test func `Law 18: over a context, a blocking write inside a read traps with a message`()
        async throws
    {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent])
        {
            let coordinator = ReadWriteCoordinator(name: "ledger", over: .barrier(named: "base"))
            coordinator.read { coordinator.blockingWrite {} }
        }
        try expectTrap(result, "'ledger'", "law 18", "enqueueWrite")
    }

    @Test(arguments: Base.allCases)
    func `Law 15: over a context, a call with a limit runs its body or returns nil`(_ base: Base)
        async
    {
        let coordinator = base.coordinator
        await offThePool {
            #expect(coordinator.read(timeout: Patience.event) { 1 } == 1)
            #expect(coordinator.blockingWrite(timeout: Patience.event) { 2 } == 2)
            #expect(coordinator.read(timeout: .seconds(Int64.max)) { 3 } == 3)
            let (isInside, mayEnd) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
            coordinator.enqueueWrite {
                isInside.signal()
                mayEnd.wait()
            }
            isInside.wait()
            #expect(coordinator.read(timeout: .zero) { 4 } == nil)
            #expect(coordinator.read(timeout: .milliseconds(5)) { 5 } == nil)
            #expect(coordinator.blockingWrite(timeout: .milliseconds(5)) { 6 } == nil)
            mayEnd.signal()
            #expect(coordinator.read { 7 } == 7)
            coordinator.blockingWrite { #expect(coordinator.read(timeout: .zero) { 8 } == 8) }
        }
    }

    @Test(arguments: Base.allCases)
    func
        `Law 20: over a context, awaited accesses run in order, and each side knows whether it is current`(
            _ base: Base
        ) async throws
    {
        let coordinator = base.coordinator
        // Unsafe in name only: what the coordinator guards.
        nonisolated(unsafe) var value = 0
        try await coordinator.writeAsync { unsafe value = 1 }
        #expect(try await coordinator.readAsync { unsafe value } == 1)
        #expect(try await coordinator.writing.run { coordinator.writing.isCurrent } == true)
        await offThePool {
            #expect(coordinator.reading.isCurrent == false)
            coordinator.read { #expect(coordinator.reading.isCurrent == true) }
        }
    }

    @Test func `Law 28: a barrier job of the base context excludes the coordinator's writes`() async
    {
        let context = BarrierQueueContext(name: "shared")
        let coordinator = ReadWriteCoordinator(over: context)
        // Unsafe in name only: what the context's barriers guard.
        nonisolated(unsafe) var count = 0
        await offThePool {
            onThreads([
                { for _ in 0..<2_000 { coordinator.blockingWrite { unsafe count += 1 } } },
                { for _ in 0..<2_000 { context.executeBarrier { unsafe count += 1 } } },
            ])
            coordinator.blockingWrite {
                dispatchPrecondition(condition: .onQueueAsBarrier(context.queue))
            }
        }
        #expect(coordinator.read { unsafe count } == 4_000)
    }
}
