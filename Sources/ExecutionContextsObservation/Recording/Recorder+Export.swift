internal import Foundation

extension Recorder {
    /// Returns the recording as JSON text, a trace in the format of Chrome and Perfetto.
    ///
    /// - Each time source is a process, so usually there is one.
    /// - Each context is a thread of it, with one more thread for each row of jobs that ran in
    ///   parallel.
    /// - A job is a complete event with its facts as arguments. A hop from a job to a job that it
    ///   submitted is a flow.
    /// - Moments are in microseconds, from the first one of their time source.
    public func traceJSON() -> String { recording.trace }

    /// Writes `traceJSON()` to a file, whole or not at all.
    public func writeTrace(to path: String) throws {
        try traceJSON().write(toFile: path, atomically: true, encoding: .utf8)
    }

    /// Returns the recording as a page for a browser: one HTML text that loads nothing else.
    ///
    /// - Each context has a lane. Jobs that ran in parallel lie in rows of the lane, and below them
    ///   is the number of waiting jobs.
    /// - Pointing at a job, or selecting it by the arrow keys, shows its facts. Arrows lead from a
    ///   job to the jobs that it submitted.
    /// - The wheel and the buttons zoom, and dragging moves. Below the lanes are the totals.
    public func timelineHTML(title: String = "Timeline") -> String {
        TimelinePage(recording: recording, title: title).html
    }

    /// Writes `timelineHTML` to a file, whole or not at all.
    public func writeTimeline(to path: String, title: String = "Timeline") throws {
        try timelineHTML(title: title).write(toFile: path, atomically: true, encoding: .utf8)
    }
}
