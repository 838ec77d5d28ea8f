import ExecutionContexts
import ExecutionContextsObservation
import ExecutionContextsTesting
import Foundation
import TestSupport
import Testing

struct PerfettoTraceTests {
    @Test func `A job is a slice on its thread, and tells its number and its wait`() throws {
        let recorder = Recorder()
        let manual = ManualContext(name: "base")
        let view = manual.observed(by: recorder)
        manual.advance(by: .seconds(5))
        view.execute { manual.stall(for: .nanoseconds(2_500)) }
        let line = #line - 1
        manual.stall(for: .microseconds(7))
        manual.runReady()
        let file = try PerfettoFile(recorder)
        let job = try #require(file.slices.first { $0.track.hasPrefix("1 thread ") })
        #expect(job.name == "base: PerfettoTraceTests.swift:\(line)")
        #expect(job.start == 7_000 && job.end == 9_500)
        #expect(job.facts == ["job": 1, "waited_ns": 7_000])
        #expect(file.faults.isEmpty)
    }

    @Test func `A submission is a flow, a wait a slice, and the depth a counter`() throws {
        let recorder = Recorder()
        let time = ManualTime()
        let screen = ManualContext(name: "screen", time: time).observed(by: recorder)
            .labeled("show")
        let store = ManualContext(name: "store", time: time).observed(by: recorder).labeled("save")
        screen.execute {
            for _ in 0..<2 { store.execute { time.stall(for: .microseconds(3)) } }
            time.stall(for: .microseconds(4))
        }
        try time.runUntilIdle()
        let file = try PerfettoFile(recorder)
        let show = try #require(file.slices.first { $0.name == "screen: show" })
        let saves = file.slices.filter { $0.name == "store: save" }
        #expect(saves.map(\.start) == [4_000, 7_000])
        #expect(show.flows == saves.flatMap(\.endingFlows) && show.flows.count == 2)
        let waits = file.slices.filter { $0.track == "store waits" }
        #expect(waits.map(\.start) == [0, 0] && waits.map(\.end) == [4_000, 7_000])
        #expect(waits.last?.facts == ["job": 2, "behind_job": 1])
        #expect(file.counts.filter { $0.track == "store waiting" }.map(\.value) == [2, 1, 0])
        #expect(file.faults.isEmpty)
    }

    @Test func `Asyncs that overlap have tracks of one name, also those without a length`() throws {
        let recorder = Recorder()
        let manual = ManualContext()
        var kept: [Async<Int>] = []
        func record() -> Promise<Int> {
            let promise = Promise<Int>()
            kept.append(promise.async.recorded(by: recorder, as: "load", time: manual.time))
            return promise
        }
        let first = record()
        record().succeed(0)
        manual.advance(by: .microseconds(5))
        let second = record()
        manual.advance(by: .microseconds(5))
        first.succeed(1)
        record().succeed(0)
        manual.advance(by: .microseconds(5))
        second.succeed(2)
        withExtendedLifetime(kept) {}
        let file = try PerfettoFile(recorder)
        #expect(
            Set(file.slices.map { [$0.start, $0.end] })
                == [[0, 10_000], [0, 0], [5_000, 15_000], [10_000, 10_000]])
        #expect(file.slices.allSatisfy { $0.track == "load" && $0.name == "load" })
        #expect(file.faults.isEmpty)
    }

    @Test func `A trace of many threads shows what the JSON shows`() async throws {
        let recorder = try await recordingOfManyThreads()
        let file = try PerfettoFile(recorder)
        let json = try Trace(recorder)
        #expect(file.faults.isEmpty)
        let threads = file.slices.filter { $0.track.contains(" thread ") }
        #expect(threads.count == json.complete.count)
        #expect(
            threads.map { [$0.start, $0.end] }.sorted(by: precedes)
                == json.complete.map { [$0.ts, $0.end] }.sorted(by: precedes))
        #expect(threads.flatMap(\.flows).sorted() == threads.flatMap(\.endingFlows).sorted())
        #expect(threads.flatMap(\.flows).count == json.flows.count / 2)
        #expect(file.counts.map(\.value) == json.of("C").map { $0.arguments["jobs"] as? Int ?? -1 })
        #expect(3 * file.size <= json.size, "\(file.size) \(json.size)")
    }

    @Test(arguments: seeds(debug: 60, release: 200))
    func `Reports that were made by hand, with any instants, are shown as in the JSON`(
        _ seed: UInt64
    ) throws {
        var random = SeededRNG(seed: seed)
        let manual = ManualContext(name: "mixed")
        let kept = KeptJobs()
        let source = manual.observed(by: kept)
        for _ in 0..<Int.random(in: 1...30, using: &random) { source.execute {} }
        manual.runReady()
        let recorder = Recorder()
        for job in kept.jobs {
            let start = Duration.nanoseconds(Int.random(in: -5...40, using: &random))
            recorder.started(job, waited: start)
            if Bool.random(using: &random) { continue }
            let length = Duration.nanoseconds(Int.random(in: 0...20, using: &random))
            recorder.finished(job, waited: start, ran: length)
        }
        let (file, json) = (try PerfettoFile(recorder), try Trace(recorder))
        #expect(file.faults.isEmpty)
        let onThreads = file.slices.filter { $0.track.contains(" thread ") }
        #expect(
            onThreads.map { [$0.start, $0.end] }.sorted(by: precedes)
                == json.complete.map { [$0.ts, $0.end] }.sorted(by: precedes))
        #expect(file.slices.count == json.complete.count + json.of("b").count)
    }

    @Test(arguments: ["", "plain", "\"quoted\" \\ \n\t\u{0}\u{1F}", "日本 🐦 \u{2028}"])
    func `A trace holds each name unchanged`(_ name: String) throws {
        let recorder = Recorder()
        ImmediateContext().named(name).observed(by: recorder).labeled(name).execute {}
        let file = try PerfettoFile(recorder)
        let jobs = file.slices.filter { $0.track.contains("thread") }
        #expect(jobs.map(\.name) == ["\(name): \(name)"])
    }

    @Test func `A job among many that wait takes a third of the JSON`() throws {
        let recorder = Recorder()
        let manual = ManualContext(name: "base")
        let view = manual.observed(by: recorder)
        for _ in 0..<5_000 { view.execute { manual.stall(for: .nanoseconds(12_345)) } }
        manual.runReady()
        let file = try PerfettoFile(recorder)
        #expect(file.slices.filter { $0.track.contains("thread") }.count == 5_000)
        #expect(file.size / 5_000 <= 55, "\(file.size)")
        #expect(file.faults.isEmpty)
    }

    @Test func `An empty recording is a trace without events`() throws {
        let file = try PerfettoFile(Recorder())
        #expect(file.slices.isEmpty && file.counts.isEmpty && file.faults.isEmpty)
    }

    @Test func `The file has the bytes of the trace`() throws {
        let recorder = Recorder()
        ImmediateContext().observed(by: recorder).execute {}
        let file = FileManager.default.temporaryDirectory.appendingPathComponent(
            "\(UUID().uuidString).pftrace")
        defer { try? FileManager.default.removeItem(at: file) }
        try recorder.writeTrace(to: file.path, as: .perfetto)
        #expect(try Array(Data(contentsOf: file)) == recorder.tracePerfetto())
    }

    private func precedes(_ left: [Int], _ right: [Int]) -> Bool {
        left.lexicographicallyPrecedes(right)
    }
}
