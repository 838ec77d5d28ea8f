import Dispatch
import ExecutionContexts

/// The lateness of delays on a pool that is overloaded with jobs of 10 us: of their submission by
/// the timer, and of their jobs.
enum PoolLateness {
    static func run(_ bench: Bench) {
        let (count, busy) = (bench.count(2_000), Flag())
        let pool = PoolContext()
        @Sendable func work() {
            PoolBenchmarks.spin(10)
            if busy.isUp { pool.execute(work) }
        }
        for _ in 0..<4 { pool.execute(work) }
        let (begun, submitted) = (Samples(), Samples())
        sharedTally.expect(count)
        for index in 0..<count {
            let wait = 1_000_000 + (index * 7_919) % 200_000_000
            let due = DispatchTime.now().uptimeNanoseconds + UInt64(wait)
            let context = NotedPool(due: due, samples: submitted)
            context.schedule(after: .nanoseconds(wait)) {
                begun.add(lateness(since: due))
                sharedTally.hit()
            }
        }
        sharedTally.wait()
        busy.lower()
        bench.figure(
            "lateness under load, us: least, median, 99 %", text(begun.sorted),
            bar: ">= 0, median <= 300")
        bench.figure(
            "lateness of their submission, us", text(submitted.sorted), bar: ">= 0, 99 % <= 1000")
    }

    private static func lateness(since due: UInt64) -> Double {
        Double(DispatchTime.now().uptimeNanoseconds) - Double(due)
    }

    private static func text(_ sorted: [Double]) -> String {
        [0, 0.5, 0.99].map { part in
            (sorted[Int(Double(sorted.count - 1) * part)] / 1_000).formatted(0)
        }.joined(separator: " / ")
    }

    /// The pool, and the instant at which it receives a due job.
    private struct NotedPool: ExecutionContext {
        let due: UInt64
        let samples: Samples
        var name: String { "pool" }
        var runsAnywhere: Bool { true }
        func execute(_ work: consuming @escaping Work) {
            samples.add(lateness(since: due))
            PoolContext().execute(work)
        }
        func enqueue(_ work: consuming @escaping Work) {
            samples.add(lateness(since: due))
            PoolContext().enqueue(work)
        }
    }
}
