import Dispatch
import ExecutionContexts
import Foundation
import TestSupport
import Testing

/// The library's records of threads, which exist only for living threads.
@Suite(.serialized, .patient)
struct LivingThreadTests {
    @Test func `A search for readers visits only living threads, however many have ended`() async {
        await watched {
            let before = SimulationHooks.threadCount
            let coordinators = (0..<12).map { ReadWriteCoordinator(name: "\($0)") }
            @Sendable func readAll(from first: Int, _ body: () -> Void) {
                if first == coordinators.count { return body() }
                coordinators[first].read { readAll(from: first + 1, body) }
            }
            let ready = DispatchGroup()
            let mayEnd = DispatchSemaphore(value: 0)
            let during = Box(0)
            for _ in 0..<600 { ready.enter() }
            let ender = Thread {
                ready.wait()
                during.value = SimulationHooks.threadCount
                for _ in 0..<600 { mayEnd.signal() }
            }
            ender.start()
            OwnThread.onEach(600) { _ in
                // More nested reads than a record has reader slots.
                readAll(from: 0) {}
                ready.leave()
                mayEnd.wait()
            }
            #expect(during.value >= 600)
            // A thread's record is freed after its last destructor, a little after its body.
            while SimulationHooks.threadCount > before + 300 { sched_yield() }
        }
    }

    @Test func `Law 17: readers that use reader slots on short-lived threads exclude a writer`()
        async
    {
        await watched {
            let coordinator = ReadWriteCoordinator()
            let room = ReadWriteRoom()
            let isOver = Box(false)
            onThreads([
                {
                    for _ in 0..<rounds(debug: 150, release: 1_500) {
                        coordinator.bringBias()
                        coordinator.blockingWrite { room.write() }
                    }
                    isOver.value = true
                },
                {
                    while !isOver.value {
                        OwnThread.onEach(4) { _ in
                            for _ in 0..<20 { coordinator.read { _ = room.read() } }
                        }
                    }
                },
            ])
            #expect(room.fault == nil)
        }
    }
}
