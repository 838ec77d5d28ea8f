import Foundation

/// Results as tables of a page.
enum Table {
    /// Returns the rows in their order: the comparisons first, then the figures.
    ///
    /// Where a row has several kept runs, the tables have a column for them. The result is empty if
    /// there are no rows.
    static func markdown(_ lines: [ResultLine]) -> String {
        let hasRuns = lines.contains { $0.kept.text != nil }
        /// Puts the column before the last one.
        func row(_ cells: [String], _ cell: String) -> [String] {
            hasRuns ? cells.dropLast() + [cell] + cells.suffix(1) : cells
        }
        let compared = lines.filter { $0.ratio != nil }
        let figures = lines.filter { $0.ratio == nil }
        var tables: [String] = []
        if !compared.isEmpty {
            tables.append(
                table(
                    row(["", "ours ns", "theirs ns", "ratio", "rounds", "bar"], "kept runs"),
                    compared.map { row(comparison($0), $0.kept.text ?? "") }))
        }
        if !figures.isEmpty {
            tables.append(
                table(
                    row(["", "measured", "bar"], "kept runs"),
                    figures.map {
                        row([$0.name, figure($0.figure ?? ""), bar($0)], $0.kept.text ?? "")
                    }))
        }
        return tables.joined(separator: "\n\n")
    }

    private static func comparison(_ line: ResultLine) -> [String] {
        func text(_ number: Double?, _ form: (Double) -> String) -> String {
            number.map(form) ?? ""
        }
        return [
            line.name, text(line.oursNanoseconds, \.asNanoseconds),
            text(line.theirsNanoseconds, \.asNanoseconds),
            text(line.ratio, \.asRatio),
            "\(text(line.lowestRatio, \.asRatio)) to \(text(line.highestRatio, \.asRatio))",
            bar(line),
        ]
    }

    private static func bar(_ line: ResultLine) -> String {
        switch line.isReached {
        case true?: "\(line.bar), reached"
        case false?: "**\(line.bar), not reached**"
        case nil: line.bar
        }
    }

    /// Joins the numbers of a figure, which are aligned in columns for the terminal.
    private static func figure(_ text: String) -> String {
        text.components(separatedBy: "  ").map { $0.trimmingCharacters(in: .whitespaces) }
            .filter { !$0.isEmpty }.joined(separator: " / ")
    }

    private static func table(_ head: [String], _ rows: [[String]]) -> String {
        let rule = head.map { _ in "---" }
        return ([head, rule] + rows.map { $0.map(escaped) })
            .map { "| " + $0.joined(separator: " | ") + " |" }.joined(separator: "\n")
    }

    /// Escapes a text so that it ends neither its cell nor its row, and is no tag.
    static func escaped(_ text: String) -> String {
        text.replacingOccurrences(of: "\\", with: "\\\\").replacingOccurrences(of: "|", with: "\\|")
            .replacingOccurrences(of: "<", with: "&lt;").split(whereSeparator: \.isNewline)
            .joined(separator: " ")
    }
}
