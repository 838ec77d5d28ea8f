import Dispatch
import ExecutionContexts
import Synchronization

/// Writes and reads back on the main thread, which is measured before the other threads begin.
enum MainThreadTimes {
    private struct Times: Sendable {
        var spared: [UInt64] = []
        var helping: [UInt64] = []
        var queue: [UInt64] = []
    }

    private static let measured = Mutex(Times())
    private static func pairs(_ bench: Bench) -> Int { bench.count(20_000) }

    @MainActor static func measure(_ bench: Bench) {
        let pairs = pairs(bench)
        func ours(sparingMain: Bool) -> UInt64 {
            let coordinator = ReadWriteCoordinator(sparingMain: sparingMain)
            return time {
                for _ in 0..<pairs {
                    coordinator.enqueueWrite { touch() }
                    coordinator.read { touch() }
                }
            }
        }
        let queue = DispatchQueue(label: "bench", attributes: .concurrent)
        var times = Times()
        for _ in 0...bench.rounds {
            times.spared.append(ours(sparingMain: true))
            times.helping.append(ours(sparingMain: false))
            times.queue.append(
                time {
                    for _ in 0..<pairs {
                        queue.async(flags: .barrier) { touch() }
                        queue.sync { touch() }
                    }
                })
        }
        let all = times
        measured.withLock { $0 = all }
    }

    static func report(_ bench: Bench) {
        let times = measured.withLock { $0 }
        for (name, ours, bar) in [
            ("on main: enqueued write, then a read", times.spared, "<= 5000 ns"),
            ("the same, and main runs its writes", times.helping, "<= 1500 ns"),
        ] {
            var (ours, theirs) = (ours, times.queue)
            bench.compareMeasured(
                name, operations: pairs(bench), bar: bar, ours: { ours.removeFirst() },
                theirs: { theirs.removeFirst() })
        }
    }
}
