internal import Foundation

extension Recorder {
    /// Returns the recording as JSON text, a trace in the format of Chrome and Perfetto.
    ///
    /// - Each thread has a lane, and a job is a complete event in it. Each time source is a process
    ///   with separate threads, so usually there is one process.
    /// - An `Async` and a wait are pairs of a begin and an end event, which may overlap.
    /// - Each context has a counter of its waiting jobs. A hop from a job to a job that it
    ///   submitted is a flow.
    /// - Instants are in microseconds, from the first one of their time source.
    ///
    /// Waits and counters have a resolution of a thousandth of the recording, and up to four waits
    /// of each context are shown at a time. `waited_us` of a job is exact, and each job has it.
    public func traceJSON() -> String { JSONTrace(recording).text }

    /// Returns the recording in Perfetto's own format: a third of the bytes of the JSON text.
    ///
    /// It shows the same as `traceJSON()`. Partly overlapping jobs have separate tracks, named
    /// after their context. Only Perfetto and programs built on it read this format.
    public func tracePerfetto() -> [UInt8] { PerfettoTrace(recording).bytes }

    /// Writes the recording as a trace to a file, completely or not at all.
    public func writeTrace(to path: String, as format: TraceFormat = .json) throws {
        let data =
            switch format {
            case .json: Data(traceJSON().utf8)
            case .perfetto: Data(tracePerfetto())
            }
        try data.write(to: URL(fileURLWithPath: path), options: .atomic)
    }

    /// Returns the recording as a page for a browser: one HTML text that loads nothing else.
    ///
    /// - Each context has a lane. Jobs that ran in parallel lie in rows of the lane, and below them
    ///   is the number of waiting jobs.
    /// - Pointing at a job, or selecting it with the arrow keys, shows its facts. Arrows lead from
    ///   a job to the jobs that it submitted.
    /// - For a selected job the page lists and draws where the time went until it ended: its own
    ///   run, the jobs in front of it, its submitter, and so on.
    /// - The wheel and the buttons zoom, and dragging moves. Dragging with the shift key selects a
    ///   range. Below the lanes are the totals of the range, or of everything.
    /// - The page finds contexts and jobs by name, and its address keeps what is selected.
    public func timelineHTML(title: String = "Timeline") -> String {
        TimelinePage(recording: recording, title: title).html
    }

    /// Writes `timelineHTML` to a file, completely or not at all.
    public func writeTimeline(to path: String, title: String = "Timeline") throws {
        try timelineHTML(title: title).write(toFile: path, atomically: true, encoding: .utf8)
    }
}
