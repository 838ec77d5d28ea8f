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
        bench.figure("bytes a kept event", "\(bytes())", bar: "<= 40")
        let totals = Double(time { _ = recorder.totals }) / 1e6
        bench.figure("totals of \(count) jobs, ms", totals.formatted(1))
        var page = ""
        let drawn = Double(time { page = recorder.timelineHTML() }) / 1e6
        bench.figure("timeline of \(count) jobs, ms", drawn.formatted(1))
        bench.figure("timeline of \(count) jobs, kB", "\(page.utf8.count / 1000)")
        var text = ""
        let traced = Double(time { text = recorder.traceJSON() }) / 1e6
        bench.figure("trace of \(count) jobs in JSON, ms", traced.formatted(1))
        bench.figure("trace of \(count) jobs in JSON, kB", "\(text.utf8.count / 1000)")
        var bytes: [UInt8] = []
        let packed = Double(time { bytes = recorder.tracePerfetto() }) / 1e6
        bench.figure("trace of \(count) jobs for Perfetto, ms", packed.formatted(1))
        bench.figure("trace of \(count) jobs for Perfetto, kB", "\(bytes.count / 1000)")
        dump(bench, recorder, count)
    }

    /// Measures the cost of a dump for the thread that requests it.
    private static func dump(_ bench: Bench, _ recorder: Recorder, _ count: Int) {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent(
            UUID().uuidString)
        defer { try? FileManager.default.removeItem(at: folder) }
        guard let dumps = try? recorder.dumps(to: folder.path, last: .seconds(60)) else { return }
        var path: String?
        let written = Double(time { path = dumps.write("a benchmark") }) / 1e6
        dumps.stop()
        guard path != nil else { return }
        bench.figure("dump of \(count) jobs to a file, ms", written.formatted(1))
    }

    private static func inline(_ bench: Bench) {
        let count = bench.count(1_000_000)
        let plain: any ExecutionContext = ImmediateContext()
        let counter = Counter()
        let work: Work = { counter.value &+= 1 }
        let recorder = Recorder()
        let contexts: [(String, any ExecutionContext, String)] = [
            ("an observer that does nothing", plain.with(.observed(by: IdleObserver())), "<= 40"),
            ("a recorder", plain.with(.observed(by: recorder)), "<= 90"),
            ("a recorder that is paused", plain.with(.observed(by: paused())), "<= 10"),
            ("a watchdog", plain.with(Watching(limit: .seconds(60)) { _ in }), "<= 120"),
            ("signposts", plain.with(.observed(by: SignpostObserver())), ""),
        ]
        for (name, observed, bar) in contexts {
            let medians = bench.compare(
                "a job with \(name), beside without", operations: count,
                ours: { for _ in 0..<count { observed.execute(work) } },
                theirs: { for _ in 0..<count { plain.execute(work) } })
            guard let medians else { continue }
            let more = (medians.ours - medians.theirs).formatted(0)
            bench.figure("a job with \(name), above without, ns", more, bar: bar)
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
            "a serial view with a recorder, beside without", operations: count, bar: "<= 250 ns",
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
