import Dispatch
import ExecutionContexts
import Foundation
import TestSupport
import Testing

/// Law 17: no reader and no writer starves, whatever other threads do.
@Suite(.patient)
struct ReadWriteFairnessTests {
    /// Repeats `work` on `threads` threads until `body`, on the caller's thread, has ended.
    private func hammer(
        _ threads: Int, _ work: @escaping @Sendable () -> Void, while body: () -> Void
    ) {
        let isOver = Box(false)
        let started = DispatchSemaphore(value: 0)
        let ended = DispatchGroup()
        for _ in 0..<threads {
            ended.enter()
            Thread.detachNewThread {
                work()
                started.signal()
                while !isOver.value { work() }
                ended.leave()
            }
        }
        for _ in 0..<threads { started.wait() }
        body()
        isOver.value = true
        ended.wait()
    }

    @Test func `Law 17: a blocking writer gets in while threads read all the time`() async {
        await watched {
            let coordinator = ReadWriteCoordinator()
            hammer(3, { coordinator.read {} }) {
                for _ in 0..<100 { coordinator.blockingWrite {} }
            }
        }
    }

    @Test
    func `Law 17: a blocking writer gets in though each reader enters before the other leaves`()
        async
    {
        let written = Box(false)
        let isStarved = Box(false)
        await watched {
            let coordinator = ReadWriteCoordinator()
            let entered = [DispatchSemaphore(value: 0), DispatchSemaphore(value: 0)]
            let chain = DispatchSemaphore(value: 0)
            // Each reader stays until the other one is inside, too, or is not admitted.
            let readers: [@Sendable () -> Void] = [0, 1].map { me in
                {
                    if me == 1 { entered[0].wait() }
                    for lap in 0...300_000 where !written.value {
                        if lap == 300_000 { isStarved.value = true }
                        let read: Void? = coordinator.read(timeout: .zero) {
                            entered[me].signal()
                            if lap == 5 { chain.signal() }
                            entered[1 - me].wait()
                        }
                        if read == nil {
                            entered[me].signal()
                            coordinator.read {}
                            entered[1 - me].wait()
                        }
                    }
                    entered[me].signal()
                }
            }
            onThreads(
                readers + [
                    {
                        chain.wait()
                        coordinator.blockingWrite { written.value = true }
                    }
                ])
            // A semaphore traps if its value at its end is below its first one.
            withExtendedLifetime(entered) {}
        }
        #expect(written.value && !isStarved.value)
    }

    @Test
    func `Law 17: a blocking writer gets in though each enqueued read begins before the last ends`()
        async
    {
        let written = Box(false)
        let reads = Box(0)
        let isStarved = Box(false)
        await watched {
            let coordinator = ReadWriteCoordinator()
            let chain = DispatchSemaphore(value: 0)
            let end = DispatchSemaphore(value: 0)
            @Sendable func next(_ begun: DispatchSemaphore) {
                coordinator.reading.enqueue {
                    begun.signal()
                    let count = reads.withValue {
                        $0 += 1
                        return $0
                    }
                    if count == 5 { chain.signal() }
                    if count == 300_000 { isStarved.value = true }
                    if written.value || isStarved.value {
                        end.signal()
                        return
                    }
                    let begun = DispatchSemaphore(value: 0)
                    next(begun)
                    // Returns when that read begins, or after a while if it has to wait.
                    _ = begun.wait(timeout: .now() + .milliseconds(20))
                }
            }
            next(DispatchSemaphore(value: 0))
            chain.wait()
            coordinator.blockingWrite { written.value = true }
            end.wait()
        }
        #expect(written.value && !isStarved.value)
    }

    @Test func `Law 17: a reader gets in while threads write all the time`() async {
        await watched {
            let coordinator = ReadWriteCoordinator()
            hammer(3, { coordinator.blockingWrite {} }) {
                for _ in 0..<100 { coordinator.read {} }
            }
        }
    }

    @Test func `Law 17: an enqueued read gets in while threads write all the time`() async {
        await watched {
            let coordinator = ReadWriteCoordinator()
            let end = DispatchSemaphore(value: 0)
            hammer(3, { coordinator.blockingWrite {} }) {
                for _ in 0..<100 {
                    coordinator.reading.enqueue { end.signal() }
                    end.wait()
                }
            }
        }
    }

    @Test func `Law 17: a reader and a writer get in while threads enqueue writes all the time`()
        async
    {
        await watched {
            let coordinator = ReadWriteCoordinator()
            let backlog = DispatchSemaphore(value: 1_000)
            let enqueue: @Sendable () -> Void = {
                backlog.wait()
                coordinator.enqueueWrite { backlog.signal() }
            }
            hammer(2, enqueue) {
                for _ in 0..<100 {
                    coordinator.read {}
                    coordinator.blockingWrite {}
                }
            }
            coordinator.read {}
            withExtendedLifetime(backlog) {}
        }
    }
}
