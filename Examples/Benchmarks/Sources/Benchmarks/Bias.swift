import Dispatch
import ExecutionContexts
import Foundation

/// The cost of a write that revokes the readers' bias, before and after many threads have ended.
///
/// Such a write scans the reader slots of all threads.
enum BiasBenchmarks {
    static func run(_ bench: Bench) {
        let coordinator = ReadWriteCoordinator()
        let before = write(coordinator, bench.count(1_000))
        for _ in 0..<100 { threads(50) { coordinator.read { touch() } } }
        let after = write(coordinator, bench.count(1_000))
        bench.figure(
            "a write after 5,000 threads, beside before",
            "\((after / before).formatted(2)) times, \(after.formatted(0)) ns", bar: "<= 2 times")
    }

    /// Returns the median time of a write, where each write follows many reads.
    private static func write(_ coordinator: ReadWriteCoordinator, _ count: Int) -> Double {
        (0..<count).map { _ in
            for _ in 0..<2_000 { coordinator.read { touch() } }
            return Double(time { coordinator.blockingWrite { touch() } })
        }.median
    }

    /// Runs `body` on `count` threads at once, and returns when they have ended.
    private static func threads(_ count: Int, _ body: @escaping @Sendable () -> Void) {
        let (start, done) = (DispatchSemaphore(value: 0), DispatchGroup())
        for _ in 0..<count {
            done.enter()
            Thread.detachNewThread {
                start.wait()
                body()
                done.leave()
            }
        }
        for _ in 0..<count { start.signal() }
        done.wait()
    }
}
