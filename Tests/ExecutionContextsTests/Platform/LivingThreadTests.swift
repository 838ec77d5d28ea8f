import Dispatch
import ExecutionContexts
import Foundation
import Testing

/// What the library knows of threads, which follows the threads that live.
@Suite(.serialized, .timeLimit(.minutes(30)))
struct LivingThreadTests {
    @Test func `A search for readers looks at living threads only, however many there have been`() async {
        await watched {
            let before = Seam.threadCount
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
                during.value = Seam.threadCount
                for _ in 0..<600 { mayEnd.signal() }
            }
            ender.start()
            OwnThread.onEach(600) { _ in
                // More reads at a time than a record has room for.
                readAll(from: 0) {}
                ready.leave()
                mayEnd.wait()
            }
            #expect(during.value >= 600)
            // A thread's record goes when its last destructor has run, a little after its body.
            while Seam.threadCount > before + 300 { sched_yield() }
        }
    }

    @Test func `Law 17: readers by claim on threads that come and go exclude a writer`() async {
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
                        OwnThread.onEach(4) { _ in for _ in 0..<20 { coordinator.read { _ = room.read() } } }
                    }
                },
            ])
            #expect(room.fault == nil)
        }
    }
}
