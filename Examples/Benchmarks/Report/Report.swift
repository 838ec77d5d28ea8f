import Foundation

/// The results of a run as a page with tables and charts.
struct Report {
    let machine: Machine
    let lines: [ResultLine]

    /// The text between the markers of a suite, or nil if none of its rows was measured.
    func block(of suite: Suite) -> Markers.Block? {
        let lines = lines(of: suite)
        guard !lines.isEmpty else { return nil }
        var parts = [Table.markdown(lines), "*\(Table.escaped(machine.line))*"]
        if chart(of: suite) != nil {
            parts.append("![\(Table.escaped(suite.title))](charts/\(suite.rawValue).svg)")
        }
        return Markers.Block(
            name: suite.rawValue, title: suite.title, text: parts.joined(separator: "\n\n"))
    }

    /// The chart of a suite, or nil if none of its measured rows has a ratio.
    func chart(of suite: Suite) -> String? {
        Chart(suite.title, note: machine.line, lines(of: suite))?.svg
    }

    /// Fills `Performance.md` in a folder and draws its charts.
    ///
    /// Suites that were not measured stay unchanged.
    func write(to folder: String) throws {
        let folder = URL(filePath: folder, directoryHint: .isDirectory)
        let charts = folder.appending(path: "charts")
        let page = folder.appending(path: "Performance.md")
        try FileManager.default.createDirectory(at: charts, withIntermediateDirectories: true)
        let exists = FileManager.default.fileExists(atPath: page.path())
        let before = exists ? try String(contentsOf: page, encoding: .utf8) : "# Performance\n"
        // The page is checked first: if its markers are broken, no file is written.
        let after = try Markers.filled(before, with: Suite.allCases.compactMap(block))
        for suite in Suite.allCases {
            guard let svg = chart(of: suite) else { continue }
            try Data(svg.utf8).write(
                to: charts.appending(path: "\(suite.rawValue).svg"), options: .atomic)
        }
        try Data(after.utf8).write(to: page, options: .atomic)
    }

    private func lines(of suite: Suite) -> [ResultLine] { lines.filter { $0.suite == suite.title } }
}
