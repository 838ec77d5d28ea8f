import Foundation

/// The results of a run, which can be written as JSON.
final class Results: @unchecked Sendable {
    // Unchecked: only the measuring thread accesses it.
    static let shared = Results()

    private var suite = ""
    private(set) var lines: [ResultLine] = []

    func begin(_ title: String) { suite = title }

    func add(_ name: String, bar: String, ours: [Double], theirs: [Double], operations: Int) {
        let ratios = zip(theirs, ours).map { $0 / $1 }
        lines.append(
            ResultLine(
                suite: suite, name: name, bar: bar,
                oursNanoseconds: ours.median / Double(operations),
                theirsNanoseconds: theirs.median / Double(operations), ratio: ratios.median,
                lowestRatio: ratios.min(), highestRatio: ratios.max()))
    }

    func add(_ name: String, bar: String, figure: String) {
        lines.append(ResultLine(suite: suite, name: name, bar: bar, figure: figure))
    }

    func add(_ lines: [ResultLine]) { self.lines += lines }

    func write(to path: String) throws {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
        try encoder.encode(lines).write(to: URL(fileURLWithPath: path))
    }
}
