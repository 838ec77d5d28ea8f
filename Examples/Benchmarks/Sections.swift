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
        // An empty body that the optimizer does not see through, whose own time both sides are spared.
        let bodies = time { for _ in 0..<count { nothing() } }
        func net(_ body: () -> Void) -> UInt64 { max(time(body), bodies + 1) - bodies }
        bench.compareMeasured(
            "uncontended, without the body", operations: count, bar: ">= 2.2",
            ours: { net { for _ in 0..<count { section.execute { nothing() } } } },
            theirs: { net { for _ in 0..<count { lock.withLock { nothing() } } } })
        bench.compareMeasured(
            "entered again, without the body", operations: count, bar: ">= 6.7",
            ours: { section.execute { net { for _ in 0..<count { section.execute { nothing() } } } } },
            theirs: { lock.withLock { net { for _ in 0..<count { lock.withLock { nothing() } } } } })
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

/// A call that is made, whatever the optimizer thinks of it.
@inline(never) @_optimize(none) private func nothing() {}
