import ExecutionContexts
import ExecutionContextsObservation
import ExecutionContextsTesting
import Foundation
import TestSupport
import Testing

/// The trace as a parser of the format reads it, and what the format demands of it.
struct Trace {
    struct Event {
        let phase: String
        let name: String
        let category: String
        let id: Int?
        let pid: Int
        let tid: Int?
        /// In nanoseconds, so that comparisons are exact.
        let ts: Int
        let dur: Int
        let arguments: [String: Any]

        var end: Int { ts + dur }
        var thread: String { "\(pid) \(tid ?? -1)" }
        /// What a begin and its end have in common.
        var pair: String { "\(pid) \(category) \(id ?? -1) \(name)" }
    }

    let events: [Event]
    let size: Int

    init(_ recorder: Recorder) throws { try self.init(recorder.traceJSON()) }

    init(_ text: String) throws {
        size = text.utf8.count
        let object = try JSONSerialization.jsonObject(with: Data(text.utf8))
        let whole = try #require(object as? [String: Any])
        let all = try #require(whole["traceEvents"] as? [[String: Any]])
        events = try all.map { event in
            func nanoseconds(_ key: String) throws -> Int {
                let number = try #require(event[key] as? NSNumber, "\(key) of \(event)")
                return Int((number.doubleValue * 1_000).rounded())
            }
            let phase = try #require(event["ph"] as? String)
            return Event(
                phase: phase, name: try #require(event["name"] as? String),
                category: event["cat"] as? String ?? "", id: event["id"] as? Int,
                pid: try #require(event["pid"] as? Int), tid: event["tid"] as? Int,
                ts: phase == "M" ? 0 : try nanoseconds("ts"),
                dur: phase == "X" ? try nanoseconds("dur") : 0,
                arguments: event["args"] as? [String: Any] ?? [:])
        }
    }

    func of(_ phases: String...) -> [Event] { events.filter { phases.contains($0.phase) } }

    var complete: [Event] { of("X") }
    var flows: [Event] { of("s", "f") }

    /// The names of the threads, by process and number.
    var threads: [String: String] {
        Dictionary(
            of("M").filter { $0.name == "thread_name" }.map {
                ($0.thread, $0.arguments["name"] as? String ?? "")
            }, uniquingKeysWith: { first, _ in first + " twice" })
    }

    // MARK: - What the format demands

    /// What is wrong with the trace; nothing if it is valid.
    var faults: [String] {
        var faults: [String] = []
        for event in events where !["M", "X", "b", "e", "s", "f", "C"].contains(event.phase) {
            faults.append("the phase \(event.phase) is unknown")
        }
        let times = events.filter { $0.phase != "M" }
        for (event, next) in zip(times, times.dropFirst()) where next.ts < event.ts {
            faults.append("\(next.name) at \(next.ts) comes after \(event.ts)")
        }
        for event in times where event.ts < 0 || event.dur < 0 {
            faults.append("\(event.name) has a negative time")
        }
        return faults + nestingFaults + pairFaults + flowFaults + counterFaults
    }

    /// Complete events of a thread lie inside or beside each other, and threads have names.
    private var nestingFaults: [String] {
        var faults: [String] = []
        for (thread, events) in Dictionary(grouping: complete, by: \.thread) {
            if threads[thread] == nil { faults.append("the thread \(thread) has no name") }
            var open: [Event] = []
            for event in events {
                while let last = open.last, last.end <= event.ts { open.removeLast() }
                if let last = open.last, event.end > last.end {
                    faults.append("\(event.name) overlaps \(last.name) in \(thread)")
                }
                open.append(event)
            }
        }
        return faults
    }

    /// Each begin has one end, which comes later.
    private var pairFaults: [String] {
        var open: Set<String> = []
        var faults: [String] = []
        for event in of("b", "e") {
            if event.id == nil || event.category.isEmpty || event.tid == nil {
                faults.append("\(event.name) lacks a field of a pair")
            }
            if event.phase == "b", !open.insert(event.pair).inserted {
                faults.append("\(event.pair) begins twice")
            }
            if event.phase == "e", open.remove(event.pair) == nil {
                faults.append("\(event.pair) ends without a begin")
            }
        }
        return faults + open.map { "\($0) does not end" }
    }

    /// A flow starts and ends once, each time inside a complete event of its thread.
    private var flowFaults: [String] {
        var faults: [String] = []
        let onThread = Dictionary(grouping: complete, by: \.thread)
        for (id, ends) in Dictionary(grouping: flows, by: \.id) {
            if ends.map(\.phase) != ["s", "f"] || id == nil {
                faults.append("a flow \(id ?? -1) has not one start and one end")
            }
            for end in ends
            where onThread[end.thread]?.contains(where: { $0.ts <= end.ts && end.ts <= $0.end })
                != true
            {
                faults.append("the flow \(id ?? -1) is at no event")
            }
        }
        return faults
    }

    private var counterFaults: [String] {
        of("C").filter {
            $0.arguments.isEmpty || $0.arguments.values.contains { ($0 as? Int ?? -1) < 0 }
        }.map { "the counter \($0.name) has no number" }
    }
}

/// Six threads with 100 jobs each: in each lies another one, which submits a third to a queue.
func recordingOfManyThreads() async throws -> Recorder {
    let recorder = Recorder()
    let view = ImmediateContext().named("beside").observed(by: recorder)
    let base = GlobalContext().serial(named: "queue")
    let serial = base.observed(by: recorder)
    await offThePool {
        onThreads(6) {
            for _ in 0..<100 {
                view.execute { view.execute { serial.execute {} } }
            }
        }
    }
    // A job's end is recorded after its body, so only a job behind it knows that it is.
    try await serial.run {}
    try await base.run {}
    return recorder
}
