import Dispatch
import ExecutionContexts
import ExecutionContextsObservation
import Foundation
import Measuring

/// The cost of observation: an observed job beside one without an observer.
enum RecordingBenchmarks {
    static func run(_ bench: Bench) {
        inline(bench)
        serial(bench)
        together(bench)
        let count = bench.count(50_000)
        let recorder = filled(count)
        bench.figure("bytes a kept event", "\(bytes())")
        let totals = Double(time { _ = recorder.totals }) / 1e6
        bench.figure("totals of \(count) jobs, ms", totals.formatted(1))
        var page = ""
        let drawn = Double(time { page = recorder.timelineHTML() }) / 1e6
        bench.figure("timeline of \(count) jobs, ms", drawn.formatted(1))
        bench.figure("timeline of \(count) jobs, kB", "\(page.utf8.count / 1000)")
        let traced = Double(time { _ = recorder.traceJSON() }) / 1e6
        bench.figure("trace of \(count) jobs, ms", traced.formatted(1))
    }

    private static func inline(_ bench: Bench) {
        let count = bench.count(1_000_000)
        let plain: any ExecutionContext = ImmediateContext()
        let counter = Counter()
        let work: Work = { counter.value &+= 1 }
        let recorder = Recorder()
        let contexts: [(String, any ExecutionContext)] = [
            ("an observer that does nothing", plain.observed(by: IdleObserver())),
            ("a recorder", plain.observed(by: recorder)),
            ("a recorder that is paused", plain.observed(by: paused())),
            ("a watchdog", plain.watched(limit: .seconds(60)) { _ in }),
            ("signposts", plain.observed(by: SignpostObserver())),
        ]
        for (name, observed) in contexts {
            bench.compare(
                "a job with \(name), beside without", operations: count,
                ours: { for _ in 0..<count { observed.execute(work) } },
                theirs: { for _ in 0..<count { plain.execute(work) } })
        }
    }

    private static func serial(_ bench: Bench) {
        let count = bench.count(200_000)
        func send(_ view: any SerialContext) {
            tally.expect(count)
            for _ in 0..<count { view.execute { tally.hit() } }
            tally.wait()
        }
        let recorder = Recorder()
        bench.compare(
            "a serial view with a recorder, beside without", operations: count,
            ours: { send(GlobalContext().serial(named: "bench").observed(by: recorder)) },
            theirs: { send(GlobalContext().serial(named: "bench")) })
    }

    /// Compares threads that report to one recorder with threads that have a recorder each.
    private static func together(_ bench: Bench) {
        for threads in [2, 4] {
            let each = bench.count(400_000) / threads
            let shared = Recorder()
            bench.compare(
                "\(threads) threads with a recorder, beside one each", operations: each * threads,
                ours: {
                    onThreads(threads) { _ in report(each, to: shared) }
                },
                theirs: {
                    onThreads(threads) { _ in report(each, to: Recorder()) }
                })
        }
    }

    private static func report(_ count: Int, to recorder: Recorder) {
        let view = ImmediateContext().observed(by: recorder)
        for _ in 0..<count { view.execute {} }
    }

    /// Returns the bytes that a full recorder uses for each of its events.
    private static func bytes() -> Int {
        let capacity = 65_536
        let before = allocatedBytes()
        let recorder = Recorder(capacity: capacity)
        report(capacity, to: recorder)
        let bytes = (allocatedBytes() - before) / capacity
        return withExtendedLifetime(recorder) { bytes }
    }

    private static func filled(_ jobs: Int) -> Recorder {
        let recorder = Recorder(capacity: 3 * jobs)
        report(jobs, to: recorder)
        return recorder
    }

    private static func paused() -> Recorder {
        let recorder = Recorder()
        recorder.pause()
        return recorder
    }
}

/// An observer that does nothing when it is notified.
struct IdleObserver: ContextObserver {
    func finished(_ job: ObservedWork, waited: Duration, ran: Duration) {}
}
