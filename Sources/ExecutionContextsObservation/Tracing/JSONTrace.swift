internal import ExecutionContexts

/// A recording as a trace in JSON. Its lanes are threads: a partly overlapping job is a pair
/// instead.
///
/// | of the recording | in the trace |
/// |---|---|
/// | a job that ran | a complete event (`X`) on its thread |
/// | a job that lies neither inside nor beside the others of its thread | a pair (`b`, `e`) |
/// | an `Async` | a pair of the category `async` |
/// | a wait | a pair of the category `wait`, up to four at a time |
/// | the number of waiting jobs of a context | a counter (`C`) |
/// | a submission by a job | a flow (`s`, `f`) |
struct JSONTrace {
    private let recording: Recording
    private let parts: TraceParts
    private var events: [TraceEvent] = []

    init(_ recording: Recording) {
        self.recording = recording
        parts = TraceParts(recording)
        events.reserveCapacity(recording.jobs.count * 4)
        for index in recording.jobs.indices { addRun(index) }
        for hop in parts.hops { add(hop) }
        for wait in parts.waits { add(wait) }
        for depth in parts.depths { add(depth) }
    }

    var text: String {
        let texts = metadata + TraceEvent.sorted(events).map(\.text)
        return "{\"displayTimeUnit\":\"ns\","
            + "\"otherData\":{\"overwritten\":\(recording.overwritten)},"
            + "\"traceEvents\":[\n" + texts.joined(separator: ",\n") + "\n]}\n"
    }

    private var metadata: [String] {
        let processes = recording.spans.indices.map { clock in
            "{\"ph\":\"M\",\"name\":\"process_name\",\"pid\":\(clock + 1),\"tid\":0,"
                + "\"args\":{\"name\":\"\(recording.name(ofClock: clock))\"}}"
        }
        return processes
            + parts.threads.all.map { thread in
                "{\"ph\":\"M\",\"name\":\"thread_name\",\"pid\":\(thread.clock + 1),"
                    + "\"tid\":\(thread.number),\"args\":{\"name\":\"thread \(thread.number)\"}}"
            }
    }

    private mutating func addRun(_ index: Int) {
        let facts = recording.jobs[index].facts
        guard let from = recording.start(of: index) else { return }
        let until = recording.end(of: index)
        let name = JSONText.quoted(recording.label(index))
        guard parts.threads.isNested[index] else {
            return addPair(facts.isAsync ? "async" : "job", name, index, from...until)
        }
        // The number, the thread and the submitter are already visible, so they are not repeated.
        var arguments: [String] = []
        if let waited = facts.waited?.nanoseconds, waited > 0 {
            arguments.append("\"waited_us\":\(JSONText.microseconds(waited))")
        }
        if facts.state == .running { arguments.append("\"state\":\"running\"") }
        let more = arguments.isEmpty ? "" : ",\"args\":{\(arguments.joined(separator: ","))}"
        events.append(
            TraceEvent(
                .complete, from, lasting: until - from,
                "\"name\":\(name),\(position(index)),"
                    + "\"dur\":\(JSONText.microseconds(until - from))\(more)"))
    }

    private mutating func add(_ wait: TraceParts.Wait) {
        let job = recording.jobs[wait.job]
        let behind = job.behind.map { ",\"behind\":\(JSONText.quoted(recording.label($0)))" } ?? ""
        addPair(
            "wait", JSONText.quoted("\(job.facts.context) waits"), wait.job, wait.span,
            ",\"args\":{\"job\":\(job.facts.id.job)\(behind)}")
    }

    private mutating func addPair(
        _ category: String, _ name: String, _ index: Int, _ span: ClosedRange<Int64>,
        _ more: String = ""
    ) {
        let shared =
            "\"name\":\(name),\"cat\":\"\(category)\",\"id\":\(index + 1),\(position(index))"
        events.append(TraceEvent(.begin, span.lowerBound, shared + more))
        events.append(TraceEvent(.end, span.upperBound, shared))
    }

    private mutating func add(_ hop: TraceParts.Hop) {
        let shared = "\"name\":\"hop\",\"cat\":\"hop\",\"id\":\(hop.job + 1)"
        events.append(
            TraceEvent(.flowStart, hop.left, "\(shared),\(position(hop.submitter))"))
        events.append(
            TraceEvent(
                .flowEnd, recording.start(of: hop.job) ?? hop.left,
                "\"bp\":\"e\",\(shared),\(position(hop.job))"))
    }

    private mutating func add(_ depth: TraceDepth) {
        let lane = recording.lanes[depth.lane]
        events.append(
            TraceEvent(
                .counter, depth.instant,
                "\"name\":\(JSONText.quoted("\(lane.name) waiting")),\"pid\":\(lane.clock + 1),"
                    + "\"args\":{\"jobs\":\(depth.count)}"))
    }

    private func position(_ index: Int) -> String {
        let job = recording.jobs[index]
        return "\"pid\":\(recording.lanes[job.lane].clock + 1),\"tid\":\(job.facts.thread)"
    }
}
