internal import ExecutionContexts

/// Builds the page from a recording.
///
/// The build embeds the files beside this one: the style, the script in parts, the controls.
struct TimelinePage {
    let recording: Recording
    let title: String
    /// Whether the page follows a running program: it begins without jobs.
    var isLive = false

    /// The page of a live timeline.
    static func live(_ title: String) -> String {
        let nothing = Recording([], lanes: [], overwritten: 0)
        return TimelinePage(recording: nothing, title: title, isLive: true).html
    }

    var html: String {
        """
        <!DOCTYPE html>
        <html lang="en"\(isLive ? " data-live" : "")>
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
        <p id="summary">\(isLive ? "" : JSONText.inHTML(summary))</p>
        </header>
        \(controls)<script type="application/json" id="data">\(data)</script>
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
        recording.jobs.isEmpty && !isLive
            ? "<p class=\"empty\">Nothing was recorded.</p>\n"
            : text(PackageResources.controls_html)
    }

    /// The parts share a scope: each may use the declarations of earlier parts.
    private var script: String {
        var parts = [
            PackageResources.model_js, PackageResources.path_js, PackageResources.totals_js,
            PackageResources.drawing_js, PackageResources.facts_js, PackageResources.input_js,
        ]
        parts.append(isLive ? PackageResources.live_js : PackageResources.selftest_js)
        return parts.map(text).joined()
    }

    /// Returns the text of a file in this folder; each ends with a newline.
    private func text(_ file: [UInt8]) -> String { String(decoding: file, as: UTF8.self) }

    // MARK: - The data

    /// The data that the script draws, as arrays; `model.js` reads them.
    private var data: String {
        let lanes = recording.lanes.map { lane in
            "[\(JSONText.quoted(lane.name)),\(lane.clock),\(lane.isAsync ? 1 : 0),\(lane.rows)]"
        }
        let spans = recording.spans.map { "\($0.upperBound - $0.lowerBound)" }
        var numbers = TimelineNumbers(recording)
        let jobs = recording.jobs.indices.map { numbers.text(of: $0) }
        return
            "{\"lanes\":[\(lanes.joined(separator: ","))],\"spans\":[\(spans.joined(separator: ","))],"
            + "\"titles\":[\(JobTitles.json(numbers.titles.texts))],\"jobs\":[\n\(jobs.joined(separator: ",\n"))\n]}"
    }
}
