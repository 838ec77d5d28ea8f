import Dispatch
import ExecutionContexts
import Foundation
import TestSupport
import Testing

/// Law 17: which accesses run side by side, and which writes a read sees.
@Suite(.patient)
struct ReadWriteOrderTests {
    @Test(arguments: [false, true])
    func `Law 17: two readers that wait for each other inside run side by side`(isBiased: Bool)
        async
    {
        await watched {
            let coordinator = ReadWriteCoordinator()
            if isBiased { coordinator.bringBias() }
            let (first, second) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
            for _ in 0..<50 {
                onThreads([
                    {
                        coordinator.read {
                            first.signal()
                            second.wait()
                        }
                    },
                    {
                        coordinator.read {
                            second.signal()
                            first.wait()
                        }
                    },
                ])
            }
        }
    }

    @Test func `Law 17: the writes of each submitter run in the order of their submission`() async {
        let coordinator = ReadWriteCoordinator()
        let log = Box<[[Int]]>(Array(repeating: [], count: 4))
        let each = rounds(debug: 1_000, release: 50_000)
        await watched {
            onThreads(
                (0..<4).map { me in
                    {
                        for index in 0..<each {
                            let write: @Sendable () -> Void = {
                                log.withValue { $0[me].append(index) }
                            }
                            index % 10 == me
                                ? coordinator.blockingWrite(write) : coordinator.enqueueWrite(write)
                        }
                    }
                })
            coordinator.read {}
        }
        for mine in log.value { #expect(mine == Array(0..<each)) }
    }

    @Test func `Law 17: writes of threads that pass a token round run in the order of the token`()
        async
    {
        let coordinator = ReadWriteCoordinator()
        let log = Box<[Int]>([])
        let laps = rounds(debug: 300, release: 10_000)
        await watched {
            let tokens = (0..<4).map { _ in DispatchSemaphore(value: 0) }
            tokens[0].signal()
            onThreads(
                (0..<4).map { me in
                    {
                        for lap in 0..<laps {
                            tokens[me].wait()
                            let number = lap * 4 + me
                            let seen = coordinator.read { log.value.count }
                            if seen != number {
                                Issue.record("\(seen) writes seen after \(number)")
                            }
                            let write: @Sendable () -> Void = {
                                log.withValue { $0.append(number) }
                            }
                            if number % 7 == 0 {
                                coordinator.blockingWrite(write)
                            } else {
                                coordinator.enqueueWrite(write)
                            }
                            tokens[(me + 1) % 4].signal()
                        }
                    }
                })
            // The last thread has passed the token to the first one, which does not take it.
            tokens[0].wait()
            coordinator.read {}
        }
        #expect(log.value == Array(0..<laps * 4))
    }

    @Test(arguments: [false, true])
    func `Law 17: a read does not see a write that was submitted after its start`(isBiased: Bool)
        async
    {
        await watched {
            let coordinator = ReadWriteCoordinator()
            let value = Box(0)
            for round in 0..<200 {
                if isBiased { coordinator.bringBias() }
                let isInside = DispatchSemaphore(value: 0)
                let isSubmitted = DispatchSemaphore(value: 0)
                onThreads([
                    {
                        coordinator.read {
                            isInside.signal()
                            isSubmitted.wait()
                            if value.value != round { Issue.record("saw a later write") }
                        }
                    },
                    {
                        isInside.wait()
                        coordinator.enqueueWrite { value.withValue { $0 += 1 } }
                        isSubmitted.signal()
                        if coordinator.read({ value.value }) != round + 1 {
                            Issue.record("missed a write")
                        }
                    },
                ])
            }
        }
    }
}
