internal import ExecutionContexts

extension Recording {
    var trace: String {
        var events = processes + threads
        for index in jobs.indices {
            events += complete(index)
            events += flow(index)
        }
        return
            "{\"displayTimeUnit\":\"ns\",\"otherData\":{\"overwritten\":\(overwritten)},\"traceEvents\":[\n"
            + events.joined(separator: ",\n") + "\n]}\n"
    }

    private var processes: [String] {
        spans.indices.map { clock in
            let name = spans.count == 1 ? "contexts" : "contexts in time source \(clock + 1)"
            return metadata(
                "process_name", pid: clock + 1, tid: 0, "\"name\":\(JSONText.quoted(name))")
        }
    }

    private var threads: [String] {
        lanes.indices.flatMap { lane in
            (0..<lanes[lane].rows).flatMap { row in
                let name = lanes[lane].name + (row == 0 ? "" : " · \(row + 1)")
                let (pid, tid) = (lanes[lane].clock + 1, thread(lane, row))
                return [
                    metadata(
                        "thread_name", pid: pid, tid: tid, "\"name\":\(JSONText.quoted(name))"),
                    metadata("thread_sort_index", pid: pid, tid: tid, "\"sort_index\":\(tid)"),
                ]
            }
        }
    }

    private func metadata(_ name: String, pid: Int, tid: Int, _ arguments: String) -> String {
        "{\"ph\":\"M\",\"name\":\"\(name)\",\"pid\":\(pid),\"tid\":\(tid),\"args\":{\(arguments)}}"
    }

    private func thread(_ lane: Int, _ row: Int) -> Int { lane * Self.rowLimit + row + 1 }

    /// Microseconds since the first instant of the lane's time source.
    private func stamp(_ instant: ContextInstant, _ lane: Int) -> String {
        JSONText.microseconds(instant.nanoseconds - spans[lanes[lane].clock].lowerBound)
    }

    private func position(_ job: Job) -> String {
        "\"pid\":\(lanes[job.lane].clock + 1),\"tid\":\(thread(job.lane, job.row))"
    }

    private func complete(_ index: Int) -> [String] {
        let job = jobs[index]
        let facts = job.facts
        guard let started = facts.started else { return [] }
        let last = ContextInstant(nanoseconds: spans[lanes[job.lane].clock].upperBound)
        let length = started.duration(to: facts.ended ?? last).nanoseconds
        var arguments = [
            "\"view\":\(facts.id.view)", "\"job\":\(facts.id.job)", "\"thread\":\(facts.thread)",
            "\"state\":\"\(facts.state.rawValue)\"",
            "\"waited_us\":\(JSONText.microseconds(facts.waited?.nanoseconds ?? 0))",
        ]
        if let behind = job.behind {
            arguments.append("\"behind\":\(JSONText.quoted(label(behind)))")
        }
        if let submitter = job.submitter {
            arguments.append("\"submitted_by\":\(JSONText.quoted(label(submitter)))")
        }
        let name = JSONText.quoted(label(index))
        return [
            "{\"ph\":\"X\",\"cat\":\"\(facts.isAsync ? "async" : "job")\",\"name\":\(name),\(position(job)),"
                + "\"ts\":\(stamp(started, job.lane)),\"dur\":\(JSONText.microseconds(length)),"
                + "\"args\":{\(arguments.joined(separator: ","))}}"
        ]
    }

    /// The arrow from the submitter to this job, if both ran and share a time source.
    private func flow(_ index: Int) -> [String] {
        let job = jobs[index]
        guard let started = job.facts.started, let submitter = submitterInTime(of: job) else {
            return []
        }
        let shared = "\"cat\":\"hop\",\"name\":\"submits\",\"id\":\(index + 1)"
        return [
            "{\"ph\":\"s\",\(shared),\(position(submitter)),\"ts\":\(stamp(job.facts.enqueued, job.lane))}",
            "{\"ph\":\"f\",\"bp\":\"e\",\(shared),\(position(job)),\"ts\":\(stamp(started, job.lane))}",
        ]
    }

    /// The submitter of a job, unless its time source is another one, whose instants are not
    /// comparable.
    func submitterInTime(of job: Job) -> Job? {
        guard let submitter = job.submitter.map({ jobs[$0] }), submitter.facts.started != nil,
            lanes[submitter.lane].clock == lanes[job.lane].clock
        else { return nil }
        return submitter
    }

    /// The display name of a job.
    func label(_ index: Int) -> String {
        jobs[index].facts.isAsync
            ? jobs[index].facts.context
            : "\(jobs[index].facts.context) #\(jobs[index].facts.id.job)"
    }
}
