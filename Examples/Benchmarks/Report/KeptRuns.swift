import Foundation

/// The runs of several machines, one for each kind of machine, as they stand beside the page.
///
/// A text of lines whose fields are separated by tabs, so that a review shows what has changed:
///
/// | first field | further fields |
/// | --- | --- |
/// | `machine` | the kind of machine: processor, cores, system |
/// | `suite` | the suite's name, the date and the toolchain of its run |
/// | `row` | the row's name, ours and theirs in nanoseconds, and the ratio |
/// | `figure` | the row's name and what was measured |
struct KeptRuns: Equatable {
    struct Run: Equatable {
        var kind: String
        var suites: [Suite] = []
    }

    struct Suite: Equatable {
        var name: String
        var date: String
        var toolchain: String
        var rows: [Row] = []
    }

    struct Row: Equatable {
        var name: String
        var numbers: Numbers?
        var figure: String?
        struct Numbers: Equatable { var ours, theirs, ratio: Double }
    }

    struct Fault: Error, Equatable, CustomStringConvertible {
        var description: String
    }

    private(set) var runs: [Run] = []

    init() {}

    init(parsing text: String) throws {
        for (index, line) in text.split(separator: "\n").enumerated() where !line.hasPrefix("#") {
            let fields = line.split(separator: "\t", omittingEmptySubsequences: false)
            guard add(fields.map(String.init)) else {
                throw Fault(
                    description: "Line \(index + 1) of the kept runs is no machine, suite, row or "
                        + "figure in its place: '\(line)'. Correct it, or remove the file.")
            }
        }
    }

    /// Adds what a line says to what the lines before it began; false if it says nothing known.
    private mutating func add(_ fields: [String]) -> Bool {
        let (run, suite) = (runs.indices.last, runs.last?.suites.indices.last)
        switch (fields[0], fields.count, run, suite) {
        case ("machine", 2, _, _): runs.append(Run(kind: fields[1]))
        case ("suite", 4, let run?, _):
            runs[run].suites.append(
                Suite(name: fields[1], date: fields[2], toolchain: fields[3]))
        case ("row", 5, let run?, let suite?):
            guard let ours = Double(fields[2]), let theirs = Double(fields[3]),
                let ratio = Double(fields[4])
            else { return false }
            runs[run].suites[suite].rows.append(
                Row(name: fields[1], numbers: .init(ours: ours, theirs: theirs, ratio: ratio)))
        case ("figure", 3, let run?, let suite?):
            runs[run].suites[suite].rows.append(Row(name: fields[1], figure: fields[2]))
        default: return false
        }
        return true
    }

    var text: String {
        var lines = [
            "# What `Benchmarks --report` measured, by kind of machine: see Performance.md."
        ]
        for run in runs {
            lines.append("machine\t\(run.kind)")
            for suite in run.suites {
                lines.append("suite\t\(suite.name)\t\(suite.date)\t\(suite.toolchain)")
                lines += suite.rows.map(\.line)
            }
        }
        return lines.joined(separator: "\n") + "\n"
    }

    /// Replaces what a machine of this kind measured in these suites; its other suites stay.
    mutating func keep(_ suites: [Suite], of kind: String) {
        let kind = kind.asField
        if !runs.contains(where: { $0.kind == kind }) { runs.append(Run(kind: kind)) }
        runs.sort { $0.kind < $1.kind }
        guard let run = runs.firstIndex(where: { $0.kind == kind }) else { return }
        for suite in suites {
            runs[run].suites.removeAll { $0.name == suite.name }
            runs[run].suites.append(suite)
        }
        runs[run].suites.sort { $0.name < $1.name }
    }

    /// What the kept runs have for one row: ratios, or the numbers that its figures begin with.
    struct Range: Equatable {
        var least, greatest: Double
        /// How many runs have the row.
        var count: Int
    }

    func range(of row: String, in suite: String) -> Range? {
        let rows = runs.flatMap(\.suites).filter { $0.name == suite }.flatMap(\.rows)
        let numbers = rows.filter { $0.name == row.asField }.compactMap(\.number)
        guard let least = numbers.min(), let greatest = numbers.max() else { return nil }
        return Range(least: least, greatest: greatest, count: numbers.count)
    }
}

extension KeptRuns.Row {
    init(_ line: ResultLine) {
        self.init(name: line.name.asField)
        if let ours = line.oursNanoseconds, let theirs = line.theirsNanoseconds,
            let ratio = line.ratio
        {
            numbers = Numbers(ours: ours, theirs: theirs, ratio: ratio)
        } else {
            figure = (line.figure ?? "").asField
        }
    }

    fileprivate var line: String {
        guard let numbers else { return "figure\t\(name)\t\(figure ?? "")" }
        let (ours, theirs) = (numbers.ours.asNanoseconds, numbers.theirs.asNanoseconds)
        return "row\t\(name)\t\(ours)\t\(theirs)\t\(numbers.ratio.asRatio)"
    }

    /// The ratio of a comparison, or the number that a figure begins with.
    fileprivate var number: Double? { numbers?.ratio ?? figure.flatMap { Bar.number(in: $0) } }
}

extension String {
    /// The text as one field of one line: each run of white space is one space.
    fileprivate var asField: String { split(whereSeparator: \.isWhitespace).joined(separator: " ") }
}
