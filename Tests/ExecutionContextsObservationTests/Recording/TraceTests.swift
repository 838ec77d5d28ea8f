import ExecutionContexts
import ExecutionContextsObservation
import ExecutionContextsTesting
import Foundation
import Testing

/// The trace as a parser of the format reads it.
struct Trace {
    struct Complete {
        let name: String
        let pid: Int
        let tid: Int
        let ts: Double
        let dur: Double
        let arguments: [String: Any]
    }

    struct Flow {
        let phase: String
        let id: Int
        let pid: Int
        let tid: Int
        let ts: Double
    }

    let events: [[String: Any]]

    init(_ recorder: Recorder) throws {
        let object = try JSONSerialization.jsonObject(with: Data(recorder.traceJSON().utf8))
        let whole = try #require(object as? [String: Any])
        events = try #require(whole["traceEvents"] as? [[String: Any]])
    }

    private func of(_ phases: Set<String>) -> [[String: Any]] {
        events.filter { phases.contains($0["ph"] as? String ?? "") }
    }

    private static func number(_ event: [String: Any], _ key: String) -> Double {
        (event[key] as? NSNumber)?.doubleValue ?? .nan
    }

    var complete: [Complete] {
        of(["X"]).map {
            Complete(
                name: $0["name"] as? String ?? "", pid: Int(Self.number($0, "pid")),
                tid: Int(Self.number($0, "tid")), ts: Self.number($0, "ts"),
                dur: Self.number($0, "dur"),
                arguments: $0["args"] as? [String: Any] ?? [:])
        }
    }

    var flows: [Flow] {
        of(["s", "f"]).map {
            Flow(
                phase: $0["ph"] as? String ?? "", id: Int(Self.number($0, "id")),
                pid: Int(Self.number($0, "pid")), tid: Int(Self.number($0, "tid")),
                ts: Self.number($0, "ts"))
        }
    }

    /// The names of the lanes, by process and thread.
    var threads: [String: String] {
        Dictionary(
            of(["M"]).filter { $0["name"] as? String == "thread_name" }.map {
                (
                    "\(Int(Self.number($0, "pid"))) \(Int(Self.number($0, "tid")))",
                    ($0["args"] as? [String: Any])?["name"] as? String ?? ""
                )
            }, uniquingKeysWith: { first, _ in first + " twice" })
    }
}

struct TraceTests {
    @Test func `A job is a complete event in the lane of its context, in microseconds`() throws {
        let recorder = Recorder()
        let manual = ManualContext(name: "base")
        let view = manual.observed(by: recorder)
        manual.advance(by: .seconds(5))
        view.execute { manual.stall(for: .nanoseconds(2_500)) }
        manual.stall(for: .microseconds(7))
        manual.runReady()
        let trace = try Trace(recorder)
        #expect(trace.complete.map(\.name) == ["base #1"])
        #expect(trace.complete[0].ts == 7)
        #expect(trace.complete[0].dur == 2.5)
        #expect(trace.complete[0].arguments["waited_us"] as? Double == 7)
        #expect(trace.threads == ["1 1": "base"])
    }

    @Test func `A submission is a flow from inside the submitting job to the submitted job`() throws
    {
        let recorder = Recorder()
        let time = ManualTime()
        let screen = ManualContext(name: "screen", time: time).observed(by: recorder)
        let store = ManualContext(name: "store", time: time).observed(by: recorder)
        screen.execute {
            time.stall(for: .microseconds(3))
            store.execute {}
            time.stall(for: .microseconds(4))
        }
        try time.runUntilIdle()
        let trace = try Trace(recorder)
        #expect(trace.flows.map(\.phase) == ["s", "f"])
        let from = trace.complete[0]
        let to = trace.complete[1]
        #expect((from.name, to.name) == ("screen #1", "store #1"))
        #expect(trace.flows[0].ts == 3 && trace.flows[1].ts == 7)
        #expect(trace.flows[0].tid == from.tid && trace.flows[1].tid == to.tid)
        #expect(from.ts <= trace.flows[0].ts && trace.flows[0].ts <= from.ts + from.dur)
        #expect(to.arguments["submitted_by"] as? String == "screen #1")
    }

    @Test func `Jobs that run at the same time are in rows of their lane that do not overlap`()
        async throws
    {
        let recorder = Recorder()
        let view = ImmediateContext().named("beside").observed(by: recorder)
        await offThePool { onThreads(6) { for _ in 0..<100 { view.execute { view.execute {} } } } }
        let trace = try Trace(recorder)
        #expect(trace.complete.count == 1200)
        #expect(
            trace.complete.allSatisfy {
                trace.threads["\($0.pid) \($0.tid)"]?.hasPrefix("beside") == true
            })
        for (_, row) in Dictionary(grouping: trace.complete, by: \.tid) {
            let sorted = row.sorted { $0.ts < $1.ts }
            // A Double of microseconds may be off by a nanosecond.
            #expect(zip(sorted, sorted.dropFirst()).allSatisfy { $0.ts + $0.dur <= $1.ts + 0.0015 })
        }
        #expect(trace.flows.count == 1200)
        #expect(
            Dictionary(grouping: trace.flows, by: \.id).values.allSatisfy {
                $0.map(\.phase) == ["s", "f"]
            })
    }

    @Test(arguments: [
        "", "plain", "\"quoted\" \\ \n\t\u{0}\u{1F}", "</script>", "日本 🐦 \u{2028}", "a & 'b'",
    ])
    func `A trace holds each name unchanged`(_ name: String) throws {
        let recorder = Recorder()
        ImmediateContext().named(name).observed(by: recorder).execute {}
        let names = try Trace(recorder).threads.values
        #expect(Array(names) == [name])
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
