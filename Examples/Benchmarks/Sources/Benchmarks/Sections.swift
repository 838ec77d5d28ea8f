import Dispatch
import ExecutionContexts
import Foundation
import Synchronization

/// The critical section beside Foundation's recursive lock.
enum SectionBenchmarks {
    static func run(_ bench: Bench) {
        let count = bench.count(20_000_000)
        let section = CriticalSection()
        let lock = NSRecursiveLock()
        let counter = Counter()
        // The time of the bodies alone: it is subtracted from the times of both sides.
        let bodies = time { for _ in 0..<count { nothing() } }
        func net(_ body: () -> Void) -> UInt64 { max(time(body), bodies + 1) - bodies }
        bench.compareMeasured(
            "uncontended, without the body", operations: count, bar: ">= 2.2",
            ours: { net { for _ in 0..<count { section.execute { nothing() } } } },
            theirs: { net { for _ in 0..<count { lock.withLock { nothing() } } } })
        bench.compareMeasured(
            "entered again, without the body", operations: count, bar: ">= 6.7",
            ours: {
                section.execute { net { for _ in 0..<count { section.execute { nothing() } } } }
            },
            theirs: { lock.withLock { net { for _ in 0..<count { lock.withLock { nothing() } } } } }
        )
        resources(bench)
        for threads in [2, 4, 8] {
            let share = bench.count(2_000_000) / threads
            bench.compare(
                "contended, \(threads) threads", operations: share * threads, bar: ">= 1.0",
                ours: {
                    onThreads(threads) { _ in
                        for _ in 0..<share { section.execute { counter.value &+= 1 } }
                    }
                },
                theirs: {
                    onThreads(threads) { _ in
                        for _ in 0..<share { lock.withLock { counter.value &+= 1 } }
                    }
                })
        }
    }
}

/// A value behind a lock beside the same value behind the system's mutex.
private func resources(_ bench: Bench) {
    let count = bench.count(10_000_000)
    let theirs = Mutex(0)
    let section = LockedResource(0, lockedBy: .section)
    bench.compare(
        "a resource's change, behind a section; Mutex", operations: count, bar: "<= 40 ns",
        ours: { for _ in 0..<count { section.mutate { $0 &+= 1 } } },
        theirs: { for _ in 0..<count { theirs.withLock { $0 &+= 1 } } })
    let coordinated = LockedResource(0, lockedBy: .coordinator)
    bench.compare(
        "a resource's change, behind a coordinator; Mutex", operations: count, bar: "<= 45 ns",
        ours: { for _ in 0..<count { coordinated.mutate { $0 &+= 1 } } },
        theirs: { for _ in 0..<count { theirs.withLock { $0 &+= 1 } } })
    bench.compare(
        "a resource's read, behind a coordinator; Mutex", operations: count, bar: "<= 30 ns",
        ours: { for _ in 0..<count { touch(coordinated.read { $0 }) } },
        theirs: { for _ in 0..<count { touch(theirs.withLock { $0 }) } })
}

/// A call that the optimizer does not remove.
@inline(never) @_optimize(none) private func nothing() {}
