import Dispatch
import ExecutionContexts
import TestSupport
import Testing

/// Law 18: which accesses may be nested in which.
@Suite(.patient)
struct ReadWriteNestingTests {
    @Test(arguments: [false, true])
    func `Law 18: a read inside a read waits for no pending write, and sees the same state`(
        startsBiased: Bool
    ) async {
        await watched {
            let coordinator = ReadWriteCoordinator()
            if startsBiased { coordinator.bringBias() }
            let value = Box(0)
            let seen = coordinator.read {
                coordinator.enqueueWrite { value.value = 1 }
                // Another thread tries whether a write can run, which revokes the bias.
                #expect(
                    onAnotherThread { coordinator.blockingWrite(timeout: .seconds(1e-4)) {} } == nil
                )
                return coordinator.read {
                    [value.value, coordinator.read(timeout: .zero) { value.value } ?? -1]
                }
            }
            #expect(seen == [0, 0])
            #expect(coordinator.read { value.value } == 1)
        }
    }

    @Test func `Law 18: a write that is enqueued in nested reads waits for the outermost read`()
        async
    {
        await watched {
            let coordinator = ReadWriteCoordinator()
            let value = Box(0)
            for isBiased in [false, true] {
                if isBiased { coordinator.bringBias() }
                @Sendable func descend(_ depth: Int) {
                    if depth == 50 { coordinator.enqueueWrite { value.withValue { $0 += 1 } } }
                    #expect(value.value == (isBiased ? 1 : 0))
                    if depth > 0 { coordinator.read { descend(depth - 1) } }
                    #expect(value.value == (isBiased ? 1 : 0))
                }
                coordinator.read { descend(100) }
                #expect(coordinator.read { value.value } == (isBiased ? 2 : 1))
            }
        }
    }

    @Test
    func `Law 18: reads and blocking writes inside a write run at once, on any write context`()
        async
    {
        await watched {
            for writeContext in [ImmediateContext(), GlobalContext(), GlobalContext().serial()]
                as [any ExecutionContext]
            {
                let coordinator = ReadWriteCoordinator(writesOnAny: writeContext)
                let log = Box<[Int]>([])
                let body: @Sendable () -> Void = {
                    coordinator.enqueueWrite { log.withValue { $0.append(4) } }
                    coordinator.read {
                        log.withValue { $0.append(1) }
                        coordinator.blockingWrite { log.withValue { $0.append(2) } }
                    }
                    coordinator.blockingWrite {
                        coordinator.read { log.withValue { $0.append(3) } }
                    }
                    #expect(coordinator.read(timeout: .zero) { true } == true)
                    #expect(coordinator.blockingWrite(timeout: .zero) { true } == true)
                    #expect(
                        coordinator.writing.isCurrent == true
                            && coordinator.reading.isCurrent == true)
                }
                coordinator.enqueueWrite(body)
                // After this read the write that the body enqueues has been submitted, too.
                coordinator.read {}
                #expect(coordinator.read { log.value } == [1, 2, 3, 4])
                coordinator.blockingWrite(body)
                #expect(coordinator.read { log.value } == [1, 2, 3, 4, 1, 2, 3, 4])
                #expect(
                    coordinator.writing.isCurrent == false && coordinator.reading.isCurrent == false
                )
            }
        }
    }

    @Test func `Law 18: a body that throws, nested or not, leaves the coordinator free`() async {
        struct Failure: Error {}
        await watched {
            let coordinator = ReadWriteCoordinator()
            for _ in 0..<300 {
                #expect(throws: Failure.self) {
                    try coordinator.read { try coordinator.read { throw Failure() } }
                }
                #expect(throws: Failure.self) {
                    try coordinator.blockingWrite { try coordinator.read { throw Failure() } }
                }
                #expect(throws: Failure.self) {
                    try coordinator.read(timeout: Patience.event) { throw Failure() }
                }
            }
            #expect(
                onAnotherThread { coordinator.blockingWrite(timeout: Patience.event) { 1 } } == 1)
        }
    }

    @Test(arguments: [7, 8, 9, 64, rounds(debug: 100, release: 200)])
    func `Law 18: nested reads of many coordinators keep all writers out until their end`(
        count: Int
    ) async {
        await watched {
            let coordinators = (0..<count).map { _ in ReadWriteCoordinator() }
            let values = Box(Array(repeating: 0, count: count))
            coordinators.forEach { $0.bringBias() }
            @Sendable func descend(_ depth: Int) {
                guard depth < count else {
                    for (index, coordinator) in coordinators.enumerated() {
                        coordinator.enqueueWrite { values.withValue { $0[index] += 1 } }
                    }
                    onThreads([
                        {
                            for coordinator in coordinators {
                                #expect(coordinator.blockingWrite(timeout: .zero) { true } == nil)
                            }
                        }
                    ])
                    for coordinator in coordinators {
                        #expect(coordinator.reading.isCurrent == true)
                        coordinator.read { #expect(values.value.allSatisfy { $0 == 0 }) }
                    }
                    return
                }
                coordinators[depth].read { descend(depth + 1) }
            }
            descend(0)
            for (index, coordinator) in coordinators.enumerated() {
                #expect(coordinator.read { values.value[index] } == 1)
                #expect(coordinator.reading.isCurrent == false)
            }
        }
    }

    @Test func `Law 18: a blocking write inside a read traps with a message`() async throws {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent])
        {
            let coordinator = ReadWriteCoordinator(name: "ledger")
            coordinator.read { coordinator.blockingWrite {} }
        }
        try expectTrap(result, "'ledger'", "law 18", "enqueueWrite")
    }

    @Test func `Law 18: a blocking write with a time limit inside a biased read traps`()
        async throws
    {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent])
        {
            let coordinator = ReadWriteCoordinator(name: "ledger")
            for _ in 0..<200 { coordinator.read {} }
            coordinator.read { _ = coordinator.blockingWrite(timeout: .zero) {} }
        }
        try expectTrap(result, "'ledger'", "law 18")
    }

    @Test func `Law 18: a sync of the writing side traps in a read inside eight other reads`()
        async throws
    {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent])
        {
            let outer = (0..<8).map { _ in ReadWriteCoordinator() }
            let coordinator = ReadWriteCoordinator(name: "ledger")
            func descend(_ depth: Int) {
                if depth < 8 { return outer[depth].read { descend(depth + 1) } }
                coordinator.read { coordinator.writing.sync {} }
            }
            descend(0)
        }
        try expectTrap(result, "'ledger'", "law 18")
    }

    @Test func `Law 18: a blocking write inside an enqueued read traps`() async throws {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent])
        {
            let coordinator = ReadWriteCoordinator(name: "ledger")
            await withCheckedContinuation { continuation in
                coordinator.reading.enqueue {
                    _ = coordinator.blockingWrite(timeout: .seconds(1.0)) {}
                    continuation.resume()
                }
            }
        }
        try expectTrap(result, "'ledger'", "law 18")
    }
}
