internal import ExecutionContexts
internal import ExecutionContextsDiagnostics

/// Instants and names for traces.
extension Recording {
    /// Nanoseconds since the first instant of the job's time source.
    func since(_ instant: ContextInstant, _ index: Int) -> Int64 {
        instant.nanoseconds - spans[lanes[jobs[index].lane].clock].lowerBound
    }

    /// When a job started, if it has.
    func start(of index: Int) -> Int64? { jobs[index].facts.started.map { since($0, index) } }

    /// When a job ended. An unfinished one lasts to the end of the recording.
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

    /// The name of a time source, which a trace shows as a process.
    func name(ofClock clock: Int) -> String {
        spans.count == 1 ? "program" : "program in time source \(clock + 1)"
    }
}
