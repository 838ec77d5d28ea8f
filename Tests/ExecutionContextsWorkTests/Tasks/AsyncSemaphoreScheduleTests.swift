import ExecutionContexts
import ExecutionContextsTesting
import ExecutionContextsWork
import TestSupport
import Testing

/// Semaphores of tasks under searched schedules: programs drawn from seeds, and cancellations at
/// every point.
@Suite(.patient, .tasksAreSimulated)
struct AsyncSemaphoreScheduleTests {
    @Test(arguments: seeds(debug: 8, release: 20))
    func `Law 35: drawn programs keep the limit, and lose no permit`(_ seed: UInt64) async {
        let report = await search("permits \(seed)", schedules: 60, seed: seed) { _ in
            var rng = SeededRNG(seed: seed)
            let limit = Int.random(in: 1...2, using: &rng)
            let semaphore = AsyncSemaphore(permits: limit)
            let room = Room(limit: limit)
            let kinds = (0..<3).map { _ in
                (0..<2).map { _ in Int.random(in: 0..<4, using: &rng) }
            }
            let tasks = kinds.map { kinds in
                Task {
                    for kind in kinds {
                        switch kind {
                        case 0:
                            _ = try await semaphore.withPermitIfAvailable { try await room.visit() }
                        case 1:
                            do {
                                try await semaphore.withPermit {
                                    try await room.visit()
                                    throw CancellationError()
                                }
                            } catch is CancellationError {}
                        default: try await semaphore.withPermit { try await room.visit() }
                        }
                    }
                }
            }
            let victim = tasks[Int.random(in: 0..<3, using: &rng)]
            if Bool.random(using: &rng) { victim.cancel() }
            for task in tasks {
                do { try await task.value } catch is CancellationError {
                    if task != victim { throw Wrong("a task that was not cancelled left") }
                }
            }
            if semaphore.availableCount != limit { throw Wrong("a permit is lost: \(semaphore)") }
            if semaphore.waitingCount != 0 { throw Wrong("a task still waits: \(semaphore)") }
        }
        #expect(report.failure == nil, "\(report)")
    }

    @Test func `A child task that asks for its parent's lock is found`() async {
        let report = await search("child") { _ in
            let lock = AsyncLock()
            try await lock.withLock {
                async let child: Void = lock.withLock {}
                try await child
            }
        }
        #expect(report.failure != nil, "\(report)")
    }
}
