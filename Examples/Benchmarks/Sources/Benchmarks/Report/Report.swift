import Foundation

/// The results of a run as a page with tables and charts, beside the kept runs of other machines.
struct Report {
    let machine: Machine
    let lines: [ResultLine]
    /// Whether the run is kept beside earlier ones of its kind of machine, or replaces them.
    var isAnother = false
    var kept = KeptRuns()

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

    /// Whether the folder of the file exists.
    static func canKeep(in file: String) -> Bool {
        let folder = URL(filePath: file).deletingLastPathComponent()
        return FileManager.default.fileExists(atPath: folder.path())
    }

    /// Fills `Performance.md` in a folder, draws its charts, and keeps the run in a file of runs.
    ///
    /// Suites that were not measured stay unchanged. A quick run, or one of some rows, is not kept.
    func write(to folder: String, runs: String) throws {
        let runs = URL(filePath: runs)
        let folder = URL(filePath: folder, directoryHint: .isDirectory)
        let charts = folder.appending(path: "charts")
        let page = folder.appending(path: "Performance.md")
        try FileManager.default.createDirectory(at: charts, withIntermediateDirectories: true)
        let exists = FileManager.default.fileExists(atPath: page.path())
        let before = exists ? try String(contentsOf: page, encoding: .utf8) : "# Performance\n"
        let report = try keeping(in: runs)
        // The page and the kept runs are checked first: if one is broken, no file is written.
        let after = try Markers.filled(before, with: Suite.allCases.compactMap(report.block))
        for suite in Suite.allCases {
            guard let svg = report.chart(of: suite) else { continue }
            try Data(svg.utf8).write(
                to: charts.appending(path: "\(suite.rawValue).svg"), options: .atomic)
        }
        try Data(after.utf8).write(to: page, options: .atomic)
        if machine.isComplete {
            try Data(report.kept.text.utf8).write(to: runs, options: .atomic)
        }
    }

    /// The report beside the runs in the file, with this run beside or in the place of its kind's.
    private func keeping(in file: URL) throws -> Report {
        var report = self
        if FileManager.default.fileExists(atPath: file.path()) {
            report.kept = try KeptRuns(parsing: String(contentsOf: file, encoding: .utf8))
        }
        if machine.isComplete {
            report.kept.keep(
                Suite.allCases.compactMap(keptSuite), of: machine.kind, beside: isAnother)
        }
        return report
    }

    private func keptSuite(_ suite: Suite) -> KeptRuns.Suite? {
        let rows = lines(of: suite).map(KeptRuns.Row.init)
        if rows.isEmpty { return nil }
        return KeptRuns.Suite(
            name: suite.rawValue, date: machine.date, toolchain: machine.swift ?? "unknown",
            rows: rows)
    }

    private func lines(of suite: Suite) -> [ResultLine] {
        lines.filter { $0.suite == suite.title }.map { line in
            var line = line
            line.kept = kept.measured(line, in: suite.rawValue)
            return line
        }
    }
}
