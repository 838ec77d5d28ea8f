internal import Foundation

extension Recorder {
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

/// Builds the page from a recording.
struct TimelinePage {
    let recording: Recording
    let title: String

    var html: String {
        """
        <!DOCTYPE html>
        <html lang="en">
        <head>
        <meta charset="utf-8">
        <meta name="viewport" content="width=device-width, initial-scale=1">
        <title>\(JSONText.inHTML(title))</title>
        <style>
        \(Self.style)
        </style>
        <script>
        window.onerror = function (message, file, line) {
          document.documentElement.dataset.error = message + " (" + line + ")";
        };
        </script>
        </head>
        <body>
        <header>
        <h1>\(JSONText.inHTML(title))</h1>
        <p>\(JSONText.inHTML(summary))</p>
        </header>
        \(recording.jobs.isEmpty ? "<p class=\"empty\">Nothing was recorded.</p>" : lanes)
        <h2>Totals</h2>
        \(table)
        <script type="application/json" id="data">\(data)</script>
        <script>
        \(Self.model)
        \(Self.drawing)
        \(Self.input)
        \(Self.selfTest)
        </script>
        </body>
        </html>

        """
    }

    private var summary: String {
        let count = recording.jobs.count
        var words = "\(count) job\(count == 1 ? "" : "s") in \(recording.lanes.count) lanes"
        if recording.overwritten > 0 {
            words += "; \(recording.overwritten) older events were overwritten"
        }
        if recording.spans.count > 1 {
            words +=
                "; \(recording.spans.count) time sources, each with its own origin: lanes of different "
                + "time sources are not comparable"
        }
        return words + "."
    }

    private var lanes: String {
        """
        <div class="bar">
        <button type="button" id="in" title="Zoom in (+)">Zoom in</button>
        <button type="button" id="out" title="Zoom out (-)">Zoom out</button>
        <button type="button" id="all" title="Everything (0)">All</button>
        <label><input type="checkbox" id="hops" checked> Hops</label>
        <span id="note"></span>
        </div>
        <div id="box" class="box">
        <div id="room" class="room"></div>
        <canvas id="view" tabindex="0" role="application" aria-describedby="facts"
        aria-label="Lanes of jobs. Left and right choose the previous and the next job, up and down the lane."></canvas>
        </div>
        <p class="legend"><span><i class="run"></i> runs</span> <span><i class="wait"></i> waits</span>
        <span><i class="depth"></i> jobs that wait</span> <span><i class="never"></i> never started</span></p>
        <div id="facts" class="facts" aria-live="polite"></div>
        <div id="tip" class="facts tip" hidden></div>
        """
    }

    // MARK: - The totals

    private var table: String {
        let head = ["p50", "p90", "p99", "max"].map { "<th>\($0)</th>" }.joined()
        return """
            <div class="scroll"><table>
            <thead>
            <tr><th rowspan="2">Context</th><th rowspan="2">Jobs</th><th colspan="4">Waited</th>
            <th colspan="4">Ran</th><th rowspan="2">Longest</th><th rowspan="2">Greatest<br>depth</th>
            <th rowspan="2">Waiting</th><th rowspan="2">Running</th><th rowspan="2">Abandoned</th></tr>
            <tr>\(head)\(head)</tr>
            </thead>
            <tbody>
            \(recording.totals.map(row).joined(separator: "\n"))
            </tbody>
            </table></div>
            """
    }

    private func row(_ totals: RecordedTotals) -> String {
        func cells(_ spread: Percentiles, _ isKnown: Bool) -> [String] {
            [spread.p50, spread.p90, spread.p99, spread.max].map {
                isKnown ? JSONText.duration($0) : ""
            }
        }
        var all =
            ["\(totals.count)"] + cells(totals.waits, !totals.isAsync) + cells(totals.runs, true)
        all.append(totals.longest.map { totals.isAsync ? "" : "#\($0.job)" } ?? "")
        all += [totals.greatestDepth, totals.waiting, totals.running, totals.abandoned].map {
            $0 == 0 ? "" : "\($0)"
        }
        let name = JSONText.inHTML(totals.context) + (totals.isAsync ? " <small>async</small>" : "")
        return "<tr><th scope=\"row\">\(name)</th>"
            + all.map { "<td>\($0)</td>" }.joined() + "</tr>"
    }

    // MARK: - The data

    /// What the script draws, as arrays; `TimelinePage+Model` reads them.
    private var data: String {
        let lanes = recording.lanes.map { lane in
            "[\(JSONText.quoted(lane.name)),\(lane.clock),\(lane.isAsync ? 1 : 0),\(lane.rows)]"
        }
        let spans = recording.spans.map { "\($0.upperBound - $0.lowerBound)" }
        return
            "{\"lanes\":[\(lanes.joined(separator: ","))],\"spans\":[\(spans.joined(separator: ","))],"
            + "\"jobs\":[\n\(recording.jobs.map(numbers).joined(separator: ",\n"))\n]}"
    }

    private func numbers(_ job: Recording.Job) -> String {
        let facts = job.facts
        let begin = recording.spans[recording.lanes[job.lane].clock].lowerBound
        func since(_ moment: Moment?) -> Int64 { moment.map { $0.nanoseconds - begin } ?? -1 }
        let state: Int64 =
            switch facts.state {
            case .waiting: 0
            case .running: 1
            case .finished: 2
            case .abandoned: 3
            }
        let all: [Int64] = [
            Int64(job.lane), Int64(job.row), since(facts.enqueued), since(facts.started),
            since(facts.ended), state, Int64(clamping: facts.id.job), Int64(job.submitter ?? -1),
            Int64(job.behind ?? -1), Int64(job.completer ?? -1), Int64(facts.thread),
        ]
        return "[" + all.map(String.init).joined(separator: ",") + "]"
    }
}
