import ExecutionContextsTesting
import TestSupport
import Testing

private typealias Mutex = SimulatedMutex

/// A mutex that a simulation sees.
@Suite(.patient)
struct SimulatedMutexTests {
    private final class Seats: Sendable { let taken = Mutex<Set<Int>>([]) }

    @Test func `Law 33: a check and an act in two uses of a mutex are found`() {
        let report = search("mutex") { sim in
            let seats = Seats()
            let sold = Tracked(0, name: "sold")
            for name in ["alice", "bob"] {
                sim.spawn(name) {
                    if seats.taken.withLock({ $0.contains(7) }) { return }
                    seats.taken.withLock { _ = $0.insert(7) }
                    sold.value += 1
                }
            }
            sim.finally("sold once") { sold.value <= 1 }
        }
        #expect(report.failure?.kind == .invariant, "\(report)")
        #expect(report.failure?.switches == 1)
    }

    @Test func `A mutex guards its value, and passes values and errors through`() throws {
        struct Full: Error {}
        let mutex = Mutex(1)
        #expect(
            mutex.withLock {
                $0 += 1; return $0
            } == 2)
        #expect(mutex.withLockIfAvailable { $0 } == 2)
        #expect(throws: Full.self) { try mutex.withLock { _ in throw Full() } }
        #expect(mutex.withLockIfAvailable { $0 } == 2)
    }

    @Test
    func `Misuse traps: a mutex that the thread has, a semaphore of a simulation outside of it`()
        async
    {
        await #expect(processExitsWith: .failure) {
            let seats = Seats()
            seats.taken.withLock { _ in seats.taken.withLock { _ in } }
        }
        await #expect(processExitsWith: .failure) {
            let kept = Tracked<SimulatedSemaphore?>(nil, name: "kept")
            _ = search("kept", schedules: 1) { _ in kept.value = SimulatedSemaphore(value: 1) }
            kept.value?.wait()
        }
    }
}
