import Foundation

/// The ratios of a suite as an SVG chart: bars on a logarithmic axis from 1, with goals as ticks.
///
/// The chart has colours for light and dark pages. It contains no scripts and loads no resources.
struct Chart {
    let title: String
    let note: String
    let lines: [ResultLine]

    private let axis: Axis
    private let nameWidth: Double
    private let plotWidth: Double
    private let rowHeight = 26.0
    private let top = 58.0

    /// Makes a chart of the rows that have ratios. Fails if there are none.
    init?(_ title: String, note: String, _ lines: [ResultLine]) {
        let lines = lines.filter { $0.ratio != nil }
        guard !lines.isEmpty else { return nil }
        self.title = title
        self.note = note
        self.lines = lines
        axis = Axis(
            for: lines.flatMap { line in
                [line.ratio, line.lowestRatio, line.highestRatio, line.goal].compactMap { $0 }
            })
        // No usual font is wider than this on average, so a name's width is estimated by its count.
        nameWidth = 6.9 * Double(min(lines.map(\.name.count).max() ?? 0, 60)) + 24
        // The plot is wide enough for the note above the bars.
        plotWidth = max(420, 770 - nameWidth - 76)
    }

    var svg: String {
        let width = nameWidth + plotWidth + 76
        let bottom = top + rowHeight * Double(lines.count)
        let height = bottom + 48
        let marks = axis.marks.map { mark in
            let at = x(mark)
            return """
                <line class="\(mark == 1 ? "one" : "grid")" x1="\(at.f)" y1="\((top - 6).f)" x2="\(at.f)" y2="\(bottom.f)"/>
                <text class="mark" x="\(at.f)" y="\((bottom + 15).f)">\(mark.asMark)</text>
                """
        }
        return
            ([
                """
                <svg xmlns="http://www.w3.org/2000/svg" width="\(width.f)" height="\(height.f)" \
                viewBox="0 0 \(width.f) \(height.f)" role="img">
                <title>\(Self.escaped(title))</title>
                <style>\(Self.style)</style>
                <text class="title" x="12" y="22">\(Self.escaped(title))</text>
                <text class="note" x="12" y="40">How many times as fast, on a logarithmic scale. Thin: lowest to highest round. \
                Tick: to be reached. Orange: not reached. Grey: slower.</text>
                """
            ] + marks + lines.enumerated().map(row) + [
                "<text class=\"note\" x=\"12\" y=\"\((height - 10).f)\">\(Self.escaped(note))</text>",
                "</svg>", "",
            ]).joined(separator: "\n")
    }

    private func row(_ index: Int, _ line: ResultLine) -> String {
        let y = top + rowHeight * Double(index)
        let middle = y + rowHeight / 2
        let ratio = line.ratio ?? .nan
        var parts = [
            "<text class=\"name\" x=\"\((nameWidth - 8).f)\" y=\"\((middle + 4).f)\">\(Self.escaped(Self.shortened(line.name)))</text>"
        ]
        var end = x(1)
        if ratio.isFinite, ratio > 0 {
            let (from, to) = (min(x(1), x(ratio)), max(x(1), x(ratio)))
            let kind = line.isReached == false ? "missed" : ratio < 1 ? "slower" : "faster"
            // A bar is at least a pixel wide, so that a ratio of 1 is visible.
            parts.append(
                "<rect class=\"\(kind)\" x=\"\(from.f)\" y=\"\((y + 5).f)\" width=\"\(max(to - from, 1).f)\" height=\"\((rowHeight - 10).f)\" rx=\"2\"/>"
            )
            end = to
        }
        if let low = line.lowestRatio, let high = line.highestRatio, low > 0, low < high {
            parts.append(
                "<line class=\"range\" x1=\"\(x(low).f)\" y1=\"\(middle.f)\" x2=\"\(x(high).f)\" y2=\"\(middle.f)\"/>"
            )
            end = max(end, x(high))
        }
        if let goal = line.goal, goal > 0 {
            parts.append(
                "<line class=\"goal\" x1=\"\(x(goal).f)\" y1=\"\((y + 2).f)\" x2=\"\(x(goal).f)\" y2=\"\((y + rowHeight - 2).f)\"/>"
            )
            end = max(end, x(goal))
        }
        parts.append(
            "<text class=\"ratio\" x=\"\((end + 6).f)\" y=\"\((middle + 4).f)\">\(ratio.asRatio)</text>"
        )
        return parts.joined(separator: "\n")
    }

    private func x(_ number: Double) -> Double { nameWidth + plotWidth * axis.place(number) }

    private static func shortened(_ name: String) -> String {
        name.count <= 60 ? name : name.prefix(57) + "..."
    }

    /// Escapes a text for an element or an attribute.
    static func escaped(_ text: String) -> String {
        // XML does not allow control characters.
        String(text.map { ($0.unicodeScalars.first?.value ?? 0) < 32 ? " " : $0 })
            .replacingOccurrences(of: "&", with: "&amp;").replacingOccurrences(
                of: "<", with: "&lt;"
            )
            .replacingOccurrences(of: ">", with: "&gt;").replacingOccurrences(
                of: "\"", with: "&quot;"
            )
            .replacingOccurrences(of: "'", with: "&apos;")
    }

    private static let style = """

        text { font: 12px system-ui, -apple-system, "Segoe UI", "DejaVu Sans", sans-serif; fill: #1f2328 }
        .title { font-size: 15px; font-weight: 600 }
        .note, .mark { font-size: 10.5px; fill: #59636e }
        .mark { text-anchor: middle }
        .name { text-anchor: end }
        .ratio { font-weight: 600 }
        .grid { stroke: #d1d9e0; stroke-width: 1 }
        .one { stroke: #818b98; stroke-width: 1.5 }
        .range { stroke: #1f2328; stroke-width: 1; stroke-opacity: 0.55 }
        .goal { stroke: #1f2328; stroke-width: 2.5 }
        .faster { fill: #4a9d5f }
        .slower { fill: #7d8ea3 }
        .missed { fill: #d9822b }
        @media (prefers-color-scheme: dark) {
        text { fill: #e6edf3 }
        .note, .mark { fill: #9198a1 }
        .grid { stroke: #3d444d }
        .one { stroke: #9198a1 }
        .range, .goal { stroke: #e6edf3 }
        .faster { fill: #3f8f55 }
        .slower { fill: #6b7c93 }
        .missed { fill: #c9772a }
        }

        """
}

extension Double {
    /// The number as a coordinate.
    fileprivate var f: String { String(format: "%.1f", self) }
}
