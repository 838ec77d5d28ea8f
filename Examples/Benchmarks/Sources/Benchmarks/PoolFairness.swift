import Dispatch
import ExecutionContexts
import Foundation

/// How long a job from outside waits beside jobs that resubmit themselves forever.
enum PoolFairness {
    static func run(_ bench: Bench) {
        for milliseconds in [1, 5] {
            for (name, part, bar) in [("median", 0.5, ">= 0.5"), ("99 %", 0.99, ">= 0.33")] {
                let probes = bench.count(200)
                bench.compareMeasured(
                    "wait beside \(milliseconds) ms feeders, \(name)", operations: 1, bar: bar,
                    ours: { wait(part, probes, milliseconds) { PoolBenchmarks.pool.execute($0) } },
                    theirs: {
                        wait(part, probes, milliseconds) { PoolBenchmarks.queue.async(execute: $0) }
                    })
            }
        }
        bench.compareMeasured(
            "500 jobs beside 2,000 feeders, all", operations: 1, bar: ">= 0.5",
            ours: { burst { PoolBenchmarks.pool.execute($0) } },
            theirs: { burst { PoolBenchmarks.queue.async(execute: $0) } })
    }

    /// Returns the wait of the job at the quantile `part` of `probes` jobs, in nanoseconds.
    private static func wait(
        _ part: Double, _ probes: Int, _ milliseconds: Int,
        _ submit: @escaping @Sendable (@escaping Work) -> Void
    ) -> UInt64 {
        let waits = Samples()
        beside(feeders: 4, of: milliseconds * 1_000, submit) {
            let all = DispatchGroup()
            for index in 0..<probes {
                // The varying pause keeps the probes out of step with the feeders.
                usleep(UInt32(1_000 + (index * 7_919) % 2_000))
                all.enter()
                let submitted = DispatchTime.now().uptimeNanoseconds
                submit {
                    waits.add(Double(DispatchTime.now().uptimeNanoseconds - submitted))
                    all.leave()
                }
            }
            all.wait()
        }
        let sorted = waits.sorted
        return UInt64(sorted[Int(Double(sorted.count - 1) * part)])
    }

    /// Returns the nanoseconds until the last of many jobs has run.
    private static func burst(_ submit: @escaping @Sendable (@escaping Work) -> Void) -> UInt64 {
        var taken: UInt64 = 0
        beside(feeders: 2_000, of: 20, submit) {
            taken = time {
                let all = DispatchGroup()
                for _ in 0..<500 {
                    all.enter()
                    submit { all.leave() }
                }
                all.wait()
            }
        }
        return taken
    }

    /// Runs `body` while jobs compute for `microseconds` and resubmit themselves.
    private static func beside(
        feeders: Int, of microseconds: Int, _ submit: @escaping @Sendable (@escaping Work) -> Void,
        _ body: () -> Void
    ) {
        let (busy, ended) = (Flag(), DispatchGroup())
        @Sendable func feed() {
            PoolBenchmarks.spin(microseconds)
            if busy.isUp { submit(feed) } else { ended.leave() }
        }
        for _ in 0..<feeders {
            ended.enter()
            submit(feed)
        }
        usleep(50_000)
        body()
        busy.lower()
        ended.wait()
    }
}
