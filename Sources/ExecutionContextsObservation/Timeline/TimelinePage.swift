internal import ExecutionContexts

/// Builds the page from a recording.
///
/// The build embeds the files beside this one: the style, the script in parts, the controls.
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
        \(text(PackageResources.timeline_css))</style>
        <script>
        \(text(PackageResources.errors_js))</script>
        </head>
        <body>
        <header>
        <h1>\(JSONText.inHTML(title))</h1>
        <p>\(JSONText.inHTML(summary))</p>
        </header>
        \(controls)<h2>Totals</h2>
        \(table)
        <script type="application/json" id="data">\(data)</script>
        <script>
        \(script)</script>
        </body>
        </html>

        """
    }

    private var summary: String {
        let count = recording.jobs.count
        let places = recording.lanes.count
        var words =
            "\(count) job\(count == 1 ? "" : "s") in \(places) lane\(places == 1 ? "" : "s")"
        if recording.overwritten > 0 {
            words +=
                recording.overwritten == 1
                ? "; 1 older event was overwritten"
                : "; \(recording.overwritten) older events were overwritten"
        }
        if recording.spans.count > 1 {
            words +=
                "; \(recording.spans.count) time sources, each with its own origin: lanes of different "
                + "time sources are not comparable"
        }
        return words + "."
    }

    private var controls: String {
        recording.jobs.isEmpty
            ? "<p class=\"empty\">Nothing was recorded.</p>\n"
            : text(PackageResources.controls_html)
    }

    /// The four parts share their names: each may use what the parts before it declare.
    private var script: String {
        [
            PackageResources.model_js, PackageResources.drawing_js, PackageResources.input_js,
            PackageResources.selftest_js,
        ].map(text).joined()
    }

    /// Returns the text of a file in this folder; each ends with a newline.
    private func text(_ file: [UInt8]) -> String { String(decoding: file, as: UTF8.self) }

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
        func cells(_ spread: RecordedTotals.Percentiles, _ isKnown: Bool) -> [String] {
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

    /// What the script draws, as arrays; `model.js` reads them.
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
        func since(_ instant: ContextInstant?) -> Int64 {
            instant.map { $0.nanoseconds - begin } ?? -1
        }
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
