import Foundation

/// The runs of several kinds of machines, up to five of each suite, as stored in `runs.tsv`.
///
/// Lines of fields separated by tabs, so that a review shows the changes:
///
/// | first field | further fields |
/// | --- | --- |
/// | `machine` | the kind of machine: processor, cores, system |
/// | `suite` | the suite's name, the date and the toolchain of one of its runs |
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

    /// Adds a line to the record that earlier lines began; false if the line is unknown.
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
            "# What `Benchmarks --report` measured, by kind of machine: see Docs/Performance.md."
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

    /// How many runs of one suite are kept of one kind of machine.
    static let most = 5

    /// Replaces the results of this kind of machine in these suites, or adds another run.
    ///
    /// Beyond the limit the oldest run is removed. The machine's other suites stay.
    mutating func keep(_ suites: [Suite], of kind: String, beside others: Bool = false) {
        let kind = kind.asField
        if !runs.contains(where: { $0.kind == kind }) { runs.append(Run(kind: kind)) }
        runs.sort { $0.kind < $1.kind }
        guard let run = runs.firstIndex(where: { $0.kind == kind }) else { return }
        for suite in suites {
            let before = runs[run].suites.filter { $0.name == suite.name }
            runs[run].suites.removeAll { $0.name == suite.name }
            if others { runs[run].suites += before.suffix(Self.most - 1) }
            runs[run].suites.append(suite)
        }
        // Runs of one suite stay in their order.
        let order = runs[run].suites.enumerated().sorted {
            ($0.element.name, $0.offset) < ($1.element.name, $1.offset)
        }
        runs[run].suites = order.map(\.element)
    }

    /// The kept runs' numbers for one row, by kind of machine.
    ///
    /// They are our time in the unit of the bar, if the bar has one, or the ratios, or the numbers
    /// at the start of the figures.
    func measured(_ line: ResultLine, in suite: String) -> Measured {
        let unit = Bar(line.bar)?.unit
        let machines = runs.map { run in
            run.suites.filter { $0.name == suite }.flatMap(\.rows)
                .filter { $0.name == line.name.asField }.compactMap { $0.number(in: unit) }
        }
        return Measured(machines: machines.filter { !$0.isEmpty })
    }

    struct Measured: Equatable {
        /// The numbers of each kind of machine that has the row.
        var machines: [[Double]] = []

        var count: Int { machines.map(\.count).reduce(0, +) }
        var medians: [Double] { machines.map(\.median) }

        /// The numbers as the reader of a table sees them; nil for less than two runs.
        var text: String? {
            let all = machines.flatMap { $0 }
            guard all.count > 1, let least = all.min(), let greatest = all.max() else { return nil }
            let range = "\(least.asRatio) to \(greatest.asRatio)"
            if machines.count == 1 {
                return "\(range), median \(all.median.asRatio), \(all.count) runs"
            }
            let medians = medians.map(\.asRatio).joined(separator: " and ")
            return "\(range), medians \(medians), \(machines.count) machines"
        }
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

    /// Our time in a unit of so many nanoseconds; without a unit the ratio; or the number that a
    /// figure begins with.
    fileprivate func number(in unit: Double?) -> Double? {
        guard let numbers else { return figure.flatMap { Bar.number(in: $0) } }
        return unit.map { numbers.ours / $0 } ?? numbers.ratio
    }
}

extension String {
    /// The text as one field of one line: each run of white space is one space.
    fileprivate var asField: String { split(whereSeparator: \.isWhitespace).joined(separator: " ") }
}
