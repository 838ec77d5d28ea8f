import Dispatch
import ExecutionContexts
import Foundation

/// The critical section beside the recursive lock of Foundation.
enum SectionBenchmarks {
    static func run(_ bench: Bench) {
        let count = bench.count(20_000_000)
        let section = CriticalSection()
        let lock = NSRecursiveLock()
        let counter = Counter()
        // An empty body that the optimizer does not see through: an increment would wait for the one before.
        bench.compare(
            "uncontended", operations: count, bar: ">= 2.2",
            ours: { for _ in 0..<count { section.execute { touch() } } },
            theirs: { for _ in 0..<count { lock.withLock { touch() } } })
        bench.compare(
            "entered again", operations: count, bar: ">= 6.7",
            ours: {
                section.execute { for _ in 0..<count { section.execute { touch() } } }
            },
            theirs: { lock.withLock { for _ in 0..<count { lock.withLock { touch() } } } })
        for threads in [2, 4, 8] {
            let share = bench.count(2_000_000) / threads
            bench.compare(
                "contended, \(threads) threads", operations: share * threads, bar: ">= 1.0",
                ours: {
                    onThreads(threads) { _ in for _ in 0..<share { section.execute { counter.value &+= 1 } } }
                },
                theirs: {
                    onThreads(threads) { _ in for _ in 0..<share { lock.withLock { counter.value &+= 1 } } }
                })
        }
    }
}
