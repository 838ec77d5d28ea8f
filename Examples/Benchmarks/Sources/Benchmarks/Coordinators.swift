import Dispatch
import ExecutionContexts
import Foundation

/// The coordinator beside a concurrent queue with barriers, which it replaces, and beside a lock.
enum CoordinatorBenchmarks {
    static func run(_ bench: Bench) {
        reads(bench)
        writes(bench)
        mixed(bench)
        exhausted(bench)
    }

    private static func reads(_ bench: Bench) {
        for threads in [1, 2, 4] {
            let share = bench.count(2_000_000) / threads
            let coordinator = ReadWriteCoordinator()
            let queue = DispatchQueue(label: "bench", attributes: .concurrent)
            bench.compare(
                "read, beside queue.sync, \(threads) threads", operations: share * threads,
                bar: ">= 50",
                ours: {
                    onThreads(threads) { _ in for _ in 0..<share { coordinator.read { touch() } } }
                },
                theirs: {
                    onThreads(threads) { _ in for _ in 0..<share { queue.sync { touch() } } }
                })
        }
        for threads in [1, 2, 4] {
            let share = bench.count(20_000_000) / threads
            let coordinator = ReadWriteCoordinator()
            let lock = ReadWriteLock()
            bench.compare(
                "read, beside pthread_rwlock, \(threads) threads", operations: share * threads,
                bar: ">= 6.7",
                ours: {
                    onThreads(threads) { _ in for _ in 0..<share { coordinator.read { touch() } } }
                },
                theirs: { onThreads(threads) { _ in for _ in 0..<share { lock.read { touch() } } } }
            )
        }
    }

    private static func writes(_ bench: Bench) {
        let count = bench.count(400_000)
        bench.compare(
            "enqueued write, beside a barrier", operations: count, bar: ">= 2",
            ours: {
                let coordinator = ReadWriteCoordinator()
                for _ in 0..<count { coordinator.enqueueWrite { touch() } }
                coordinator.read {}
            },
            theirs: {
                let queue = DispatchQueue(label: "bench", attributes: .concurrent)
                for _ in 0..<count { queue.async(flags: .barrier) { touch() } }
                queue.sync {}
            })
        let pairs = bench.count(50_000)
        bench.compare(
            "enqueued write, then a read", operations: pairs, bar: ">= 6.7",
            ours: {
                let coordinator = ReadWriteCoordinator()
                for _ in 0..<pairs {
                    coordinator.enqueueWrite { touch() }
                    coordinator.read { touch() }
                }
            },
            theirs: {
                let queue = DispatchQueue(label: "bench", attributes: .concurrent)
                for _ in 0..<pairs {
                    queue.async(flags: .barrier) { touch() }
                    queue.sync { touch() }
                }
            })
        MainThreadTimes.report(bench)
        let blocking = bench.count(5_000_000)
        let coordinator = ReadWriteCoordinator()
        let lock = ReadWriteLock()
        bench.compare(
            "blocking write, beside pthread_rwlock", operations: blocking,
            ours: { for _ in 0..<blocking { coordinator.blockingWrite { touch() } } },
            theirs: { for _ in 0..<blocking { lock.write { touch() } } })
    }

    private static func mixed(_ bench: Bench) {
        let share = bench.count(1_000_000)
        let coordinator = ReadWriteCoordinator()
        let lock = ReadWriteLock()
        bench.compare(
            "10 % blocking writes, 4 threads, beside rwlock", operations: share * 4, bar: ">= 1",
            ours: {
                onThreads(4) { index in
                    var random = UInt32(index + 1)
                    for _ in 0..<share {
                        random = random &* 1_664_525 &+ 1_013_904_223
                        if (random >> 16) % 10 == 0 {
                            coordinator.blockingWrite { touch() }
                        } else {
                            coordinator.read { touch() }
                        }
                    }
                }
            },
            theirs: {
                onThreads(4) { index in
                    var random = UInt32(index + 1)
                    for _ in 0..<share {
                        random = random &* 1_664_525 &+ 1_013_904_223
                        if (random >> 16) % 10 == 0 {
                            lock.write { touch() }
                        } else {
                            lock.read { touch() }
                        }
                    }
                }
            })
    }

    /// Runs sixteen jobs on the system's pool, each of which writes and then reads.
    private static func exhausted(_ bench: Bench) {
        func jobs(_ job: @escaping @Sendable (Int) -> Void) -> UInt64 {
            time {
                let done = DispatchGroup()
                for index in 0..<16 { DispatchQueue.global().async(group: done) { job(index) } }
                done.wait()
            }
        }
        let coordinator = ReadWriteCoordinator()
        let ours = jobs { _ in
            coordinator.enqueueWrite { usleep(100) }
            coordinator.read {}
        }
        bench.figure(
            "16 pool jobs write and read back", "\((Double(ours) / 1e6).formatted(1)) ms",
            bar: "< 100 ms")
        if bench.isQuick { return }
        let queue = DispatchQueue(label: "bench", attributes: .concurrent)
        let theirs = jobs { _ in
            queue.async(flags: .barrier) { usleep(100) }
            queue.sync {}
        }
        bench.figure(
            "the same with a concurrent queue", "\((Double(theirs) / 1e6).formatted(1)) ms")
    }
}

/// A call that the optimizer does not inline.
@inline(never) func touch() {}
@inline(never) func touch(_ value: Int) {}

/// The system's read-write lock.
@safe private final class ReadWriteLock: @unchecked Sendable {
    // Unchecked: it is a lock.
    private let lock = UnsafeMutablePointer<pthread_rwlock_t>.allocate(capacity: 1)

    init() { unsafe pthread_rwlock_init(lock, nil) }

    @inline(__always)
    func read<Value>(_ body: () -> Value) -> Value {
        unsafe pthread_rwlock_rdlock(lock)
        defer { unsafe pthread_rwlock_unlock(lock) }
        return body()
    }

    @inline(__always)
    func write<Value>(_ body: () -> Value) -> Value {
        unsafe pthread_rwlock_wrlock(lock)
        defer { unsafe pthread_rwlock_unlock(lock) }
        return body()
    }
}
