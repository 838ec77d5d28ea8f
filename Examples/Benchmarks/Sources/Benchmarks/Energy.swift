import Dispatch
import ExecutionContexts
import Foundation

/// The resources that the library uses while there is nothing to do, compared with Dispatch.
enum EnergyBenchmarks {
    static func run(_ bench: Bench) {
        compare(
            bench, "idle, after 1,000 jobs",
            ours: { tally(1_000) { PoolContext().execute($0) } },
            theirs: { tally(1_000) { DispatchQueue.global().async(execute: $0) } })
        let hour = Duration.seconds(3_600)
        compare(
            bench, "with a delay of an hour",
            ours: {
                let delay = PoolContext().schedule(after: hour) {}
                return { delay.cancel() }
            },
            theirs: {
                let source = timer(every: 3_600)
                return { source.cancel() }
            })
        compare(
            bench, "with a repetition each 10 ms",
            ours: {
                let ticks = PoolContext().schedule(every: .milliseconds(10)) {}
                return { ticks.cancel() }
            },
            theirs: {
                let source = timer(every: 0.01)
                return { source.cancel() }
            })
        compare(
            bench, "with a job that waits",
            ours: {
                let end = DispatchSemaphore(value: 0)
                PoolContext().execute { end.wait() }
                return { end.signal() }
            },
            theirs: {
                let end = DispatchSemaphore(value: 0)
                DispatchQueue.global().async { end.wait() }
                return { end.signal() }
            })
    }

    private static func tally(_ count: Int, _ execute: (@escaping Work) -> Void) -> () -> Void {
        sharedTally.expect(count)
        for _ in 0..<count { execute { sharedTally.hit() } }
        sharedTally.wait()
        return {}
    }

    private static func timer(every seconds: Double) -> any DispatchSourceTimer {
        let source = DispatchSource.makeTimerSource(queue: .global())
        source.setEventHandler {}
        source.schedule(deadline: .now() + seconds, repeating: seconds)
        source.activate()
        return source
    }

    /// Prepares each alternative, waits until it is idle, and measures it while idle.
    private static func compare(
        _ bench: Bench, _ name: String, ours: @escaping () -> () -> Void,
        theirs: @escaping () -> () -> Void
    ) {
        let seconds = bench.isQuick ? 0.1 : 2
        let costs = [ours, theirs].map { prepare -> (wakes: Double, microseconds: Double) in
            let end = prepare()
            defer { end() }
            Thread.sleep(forTimeInterval: bench.isQuick ? 0.05 : 0.5)
            let before = usage()
            Thread.sleep(forTimeInterval: seconds)
            let after = usage()
            return (
                // Without the one of this thread.
                max(0, after.wakes - before.wakes - 1) / seconds,
                (after.microseconds - before.microseconds) / seconds
            )
        }
        bench.figure(
            "wake-ups a second, \(name)",
            costs.map { $0.wakes.formatted(1) }.joined(separator: " / "))
        bench.figure(
            "processor us a second, \(name)",
            costs.map { $0.microseconds.formatted(0) }.joined(separator: " / "))
    }

    /// How often threads of the process have waited, and the processor time of all of them.
    private static func usage() -> (wakes: Double, microseconds: Double) {
        var usage = rusage()
        // RUSAGE_SELF, which the C libraries declare in different types.
        let ofProcess: CInt = 0
        _ = unsafe getrusage(ofProcess, &usage)
        let seconds = usage.ru_utime.tv_sec + usage.ru_stime.tv_sec
        let rest = Double(usage.ru_utime.tv_usec) + Double(usage.ru_stime.tv_usec)
        return (Double(usage.ru_nvcsw), Double(seconds) * 1e6 + rest)
    }
}
