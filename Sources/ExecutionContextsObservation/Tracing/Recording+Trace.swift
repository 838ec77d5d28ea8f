internal import ExecutionContexts

/// The recording as a trace. Its lanes are threads: what partly overlaps is a pair instead.
///
/// | of the recording | in the trace |
/// |---|---|
/// | a job that ran | a complete event (`X`) on its thread |
/// | a job that lies neither inside nor beside the others of its thread | a pair (`b`, `e`) |
/// | an `Async` | a pair of the category `async` |
/// | a wait | a pair of the category `wait`, up to four at a time |
/// | the number of waiting jobs of a context | a counter (`C`) |
/// | a submission by a job | a flow (`s`, `f`) |
extension Recording {
    var trace: String {
        let threads = TraceThreads(self)
        var events: [TraceEvent] = []
        events.reserveCapacity(jobs.count * 4)
        for index in jobs.indices {
            addRun(index, threads, &events)
            addFlow(index, threads, &events)
        }
        var members = [[Int]](repeating: [], count: lanes.count)
        for (index, job) in jobs.enumerated() { members[job.lane].append(index) }
        for lane in lanes.indices where !lanes[lane].isAsync {
            addWaits(of: members[lane], &events)
            addDepth(lane, of: members[lane], &events)
        }
        let texts = metadata(threads) + TraceEvent.sorted(events).map(\.text)
        return "{\"displayTimeUnit\":\"ns\",\"otherData\":{\"overwritten\":\(overwritten)},"
            + "\"traceEvents\":[\n" + texts.joined(separator: ",\n") + "\n]}\n"
    }

    private func metadata(_ threads: TraceThreads) -> [String] {
        let processes = spans.indices.map { clock in
            let name = spans.count == 1 ? "program" : "program in time source \(clock + 1)"
            return "{\"ph\":\"M\",\"name\":\"process_name\",\"pid\":\(clock + 1),\"tid\":0,"
                + "\"args\":{\"name\":\"\(name)\"}}"
        }
        return processes
            + threads.all.map { thread in
                "{\"ph\":\"M\",\"name\":\"thread_name\",\"pid\":\(thread.clock + 1),"
                    + "\"tid\":\(thread.number),\"args\":{\"name\":\"thread \(thread.number)\"}}"
            }
    }

    // MARK: - Jobs

    private func addRun(_ index: Int, _ threads: TraceThreads, _ events: inout [TraceEvent]) {
        let facts = jobs[index].facts
        guard let started = facts.started else { return }
        let (from, until) = (since(started, index), end(of: index))
        let name = JSONText.quoted(label(index))
        guard threads.isNested[index] else {
            let category = facts.isAsync ? "async" : "job"
            addPair(category, name, index, from...until, &events)
            return
        }
        // What the picture shows already is not repeated: number, thread, submitter.
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

    /// How many waits of a context a trace shows at a time. The counter shows how many there are.
    private static var waitLimit: Int { 4 }

    /// Adds the waits of a context: of those that overlap, the ones that began first.
    ///
    /// A wait of less than a thousandth of the recording is no wider than a pixel, and left out.
    private func addWaits(of members: [Int], _ events: inout [TraceEvent]) {
        var free = [Int64](repeating: .min, count: Self.waitLimit)
        for index in members {
            let facts = jobs[index].facts
            let from = since(facts.enqueued, index)
            let until = facts.started.map { since($0, index) } ?? end(of: index)
            let span = spans[lanes[jobs[index].lane].clock]
            guard until > from, until - from >= (span.upperBound - span.lowerBound) / 1_000,
                let row = free.firstIndex(where: { $0 <= from })
            else { continue }
            free[row] = until
            let behind = jobs[index].behind.map { "\"behind\":\(JSONText.quoted(label($0)))" }
            addPair(
                "wait", JSONText.quoted("\(facts.context) waits"), index, from...until, &events,
                ",\"args\":{\"job\":\(facts.id.job)\(behind.map { "," + $0 } ?? "")}")
        }
    }

    private func addPair(
        _ category: String, _ name: String, _ index: Int, _ span: ClosedRange<Int64>,
        _ events: inout [TraceEvent], _ more: String = ""
    ) {
        let shared =
            "\"name\":\(name),\"cat\":\"\(category)\",\"id\":\(index + 1),\(position(index))"
        events.append(TraceEvent(.begin, span.lowerBound, shared + more))
        events.append(TraceEvent(.end, span.upperBound, shared))
    }

    /// The arrow from the submitter to this job, if both are on threads and share a time source.
    ///
    /// A job that runs inside its submitter lies under it already, and has no arrow.
    private func addFlow(_ index: Int, _ threads: TraceThreads, _ events: inout [TraceEvent]) {
        let job = jobs[index]
        guard let started = job.facts.started, let submitter = job.submitter,
            threads.isNested[index], threads.isNested[submitter],
            lanes[jobs[submitter].lane].clock == lanes[job.lane].clock
        else { return }
        let left = since(job.facts.enqueued, index)
        let start = jobs[submitter].facts.started.map { since($0, submitter) } ?? left
        let last = end(of: submitter)
        let isInside =
            jobs[submitter].facts.thread == job.facts.thread && end(of: index) <= last
            && (since(started, index) < last || start == last)
        // A report that was made by hand may claim any instant.
        guard start <= left, left <= last, !isInside else { return }
        let shared = "\"name\":\"hop\",\"cat\":\"hop\",\"id\":\(index + 1)"
        events.append(TraceEvent(.flowStart, left, "\(shared),\(position(submitter))"))
        events.append(
            TraceEvent(
                .flowEnd, since(started, index), "\"bp\":\"e\",\(shared),\(position(index))"))
    }

    // MARK: - Positions

    private func position(_ index: Int) -> String {
        "\"pid\":\(lanes[jobs[index].lane].clock + 1),\"tid\":\(jobs[index].facts.thread)"
    }

    /// Nanoseconds since the first instant of the job's time source.
    func since(_ instant: ContextInstant, _ index: Int) -> Int64 {
        instant.nanoseconds - spans[lanes[jobs[index].lane].clock].lowerBound
    }

    /// When a job ended. One that has not ended lasts to the end of the recording.
    func end(of index: Int) -> Int64 {
        let span = spans[lanes[jobs[index].lane].clock]
        let facts = jobs[index].facts
        let end = facts.ended.map { since($0, index) } ?? span.upperBound - span.lowerBound
        return max(end, since(facts.started ?? facts.enqueued, index))
    }

    /// The display name of a job.
    func label(_ index: Int) -> String {
        let facts = jobs[index].facts
        if facts.isAsync { return facts.context }
        let title = facts.source.title.map { ": \($0)" } ?? ""
        return "\(facts.context) #\(facts.id.job)\(title)"
    }
}
