import ExecutionContexts
import ExecutionContextsObservation
import ExecutionContextsTesting
import Foundation
import Testing

struct TraceTests {
    @Test func `A job is a complete event on its thread, in microseconds`() throws {
        let recorder = Recorder()
        let manual = ManualContext(name: "base")
        let view = manual.observed(by: recorder)
        manual.advance(by: .seconds(5))
        view.execute { manual.stall(for: .nanoseconds(2_500)) }
        let line = #line - 1
        manual.stall(for: .microseconds(7))
        manual.runReady()
        let trace = try Trace(recorder)
        #expect(trace.complete.map(\.name) == ["base #1: TraceTests.swift:\(line)"])
        #expect(trace.complete[0].ts == 7_000)
        #expect(trace.complete[0].dur == 2_500)
        #expect(trace.complete[0].arguments["waited_us"] as? Double == 7)
        let thread = try #require(trace.complete[0].tid)
        #expect(trace.threads == ["1 \(thread)": "thread \(thread)"])
        #expect(trace.faults.isEmpty)
    }

    @Test func `A submission is a flow from inside the submitting job to the submitted job`() throws
    {
        let recorder = Recorder()
        let time = ManualTime()
        let screen = ManualContext(name: "screen", time: time).observed(by: recorder)
            .labeled("show")
        let store = ManualContext(name: "store", time: time).observed(by: recorder).labeled("save")
        screen.execute {
            time.stall(for: .microseconds(3))
            store.execute {}
            time.stall(for: .microseconds(4))
        }
        try time.runUntilIdle()
        let trace = try Trace(recorder)
        #expect(trace.flows.map(\.phase) == ["s", "f"])
        #expect(trace.complete.map(\.name) == ["screen #1: show", "store #1: save"])
        #expect(trace.flows.map(\.ts) == [3_000, 7_000])
        #expect(trace.flows.map(\.tid) == trace.complete.map(\.tid))
        #expect(trace.faults.isEmpty)
    }

    @Test func `A wait is a pair that names the job in front, and a counter shows the depth`()
        throws
    {
        let recorder = Recorder()
        let manual = ManualContext(name: "base")
        let view = manual.observed(by: recorder).labeled("job")
        for _ in 0..<3 { view.execute { manual.stall(for: .microseconds(10)) } }
        manual.runReady()
        let trace = try Trace(recorder)
        #expect(trace.of("b").map(\.name) == ["base waits", "base waits"])
        #expect(
            trace.of("b").map { $0.arguments["behind"] as? String }
                == ["base #1: job", "base #2: job"])
        #expect(trace.of("e").map(\.ts) == [10_000, 20_000])
        #expect(trace.of("C").map { $0.arguments["jobs"] as? Int } == [2, 1, 0])
        #expect(trace.of("C").map(\.ts) == [0, 10_000, 20_000])
        #expect(trace.faults.isEmpty)
    }

    @Test func `Asyncs that overlap are pairs, and leave the threads to the jobs`() throws {
        let recorder = Recorder()
        let manual = ManualContext()
        let (first, second) = (Promise<Int>(), Promise<Int>())
        let kept = [first, second].map {
            manual.advance(by: .microseconds(5))
            return $0.async.recorded(by: recorder, as: "load", time: manual.time)
        }
        manual.advance(by: .microseconds(5))
        first.succeed(1)
        manual.advance(by: .microseconds(5))
        second.succeed(2)
        withExtendedLifetime(kept) {}
        let trace = try Trace(recorder)
        #expect(trace.complete.isEmpty)
        #expect(trace.of("b", "e").map(\.phase) == ["b", "b", "e", "e"])
        #expect(trace.of("b", "e").map(\.ts) == [0, 5_000, 10_000, 15_000])
        #expect(trace.of("b").allSatisfy { $0.category == "async" && $0.name == "load" })
        #expect(trace.faults.isEmpty)
    }

    @Test func `Jobs that are still waiting and running have ends`() throws {
        let recorder = Recorder()
        let manual = ManualContext(name: "base")
        let view = manual.observed(by: recorder).labeled("job")
        let trace = Box("")
        view.execute {
            manual.stall(for: .microseconds(10))
            ImmediateContext().named("inner").observed(by: recorder).execute {}
            view.execute {}
            trace.value = recorder.traceJSON()
        }
        manual.runReady()
        let found = try Trace(trace.value)
        #expect(found.complete.first { $0.name == "base #1: job" }?.dur == 10_000)
        #expect(found.complete.first?.arguments["state"] as? String == "running")
        #expect(found.faults.isEmpty)
    }

    @Test func `A job that only partly overlaps another one of its thread is a pair`() throws {
        let manual = ManualContext(name: "mixed")
        // Contexts report no such jobs of one thread, so these reports are made by hand.
        let mixed = Recorder()
        let first = KeptJobs()
        let source = manual.observed(by: first)
        for _ in 0..<2 { source.execute {} }
        manual.runReady()
        let (one, two) = (first.jobs[0], first.jobs[1])
        for (job, start, length) in [(one, 0, 10), (two, 5, 10)] {
            mixed.started(job, waited: .microseconds(start))
            mixed.finished(job, waited: .microseconds(start), ran: .microseconds(length))
        }
        let trace = try Trace(mixed)
        #expect(trace.complete.map(\.name) == ["mixed #1"])
        #expect(trace.of("b").contains { $0.category == "job" && $0.name == "mixed #2" })
        #expect(trace.faults.isEmpty)
    }

    @Test func `A trace of many threads is valid, and each thread has its own jobs`() async throws {
        let recorder = try await recordingOfManyThreads()
        let trace = try Trace(recorder)
        #expect(trace.complete.filter { $0.name.hasPrefix("beside") }.count == 1200)
        #expect(trace.faults.isEmpty)
        // A job inside its submitter has no arrow.
        #expect(trace.flows.count == 2 * 600)
    }

    @Test(arguments: [
        "", "plain", "\"quoted\" \\ \n\t\u{0}\u{1F}", "</script>", "日本 🐦 \u{2028}", "a & 'b'",
    ])
    func `A trace holds each name unchanged`(_ name: String) throws {
        let recorder = Recorder()
        ImmediateContext().named(name).observed(by: recorder).labeled(name).execute {}
        #expect(try Trace(recorder).complete.map(\.name) == ["\(name) #1: \(name)"])
    }

    @Test func `A job among many that wait takes 158 bytes and the digits of its thread`() throws {
        let recorder = Recorder()
        let manual = ManualContext(name: "base")
        let view = manual.observed(by: recorder)
        for _ in 0..<5_000 { view.execute { manual.stall(for: .nanoseconds(12_345)) } }
        manual.runReady()
        let trace = try Trace(recorder)
        let digits = try #require(trace.complete.first?.tid).description.count
        #expect(trace.size / 5_000 <= 158 + digits, "\(trace.size)")
        #expect(
            trace.complete.allSatisfy {
                $0.name.hasPrefix("base #1:") || $0.arguments["waited_us"] != nil
            })
        #expect(trace.faults.isEmpty)
    }

    @Test func `An empty recording is a trace without events`() throws {
        #expect(try Trace(Recorder()).events.isEmpty)
    }

    @Test func `Traces and timelines are written to files, and failures are thrown`() throws {
        let recorder = Recorder()
        ImmediateContext().observed(by: recorder).execute {}
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent(
            UUID().uuidString)
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let trace = folder.appendingPathComponent("trace.json").path
        try recorder.writeTrace(to: trace)
        #expect(try String(contentsOfFile: trace, encoding: .utf8) == recorder.traceJSON())
        let page = folder.appendingPathComponent("page.html").path
        try recorder.writeTimeline(to: page, title: "Mine")
        #expect(
            try String(contentsOfFile: page, encoding: .utf8)
                == recorder.timelineHTML(title: "Mine"))
        #expect(throws: (any Error).self) {
            try recorder.writeTimeline(to: folder.appendingPathComponent("none/page.html").path)
        }
    }
}

/// Keeps the jobs that are reported, for reports by hand.
final class KeptJobs: ContextObserver {
    private let kept = Box<[ObservedWork]>([])
    var jobs: [ObservedWork] { kept.value }
    func enqueued(_ job: ObservedWork) { kept.withValue { $0.append(job) } }
    func finished(_ job: ObservedWork, waited: Duration, ran: Duration) {}
}
