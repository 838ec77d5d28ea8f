import Foundation
import Testing

@testable import Benchmarks

struct MarkersTests {
    private let block = Markers.Block(name: "serial", title: "Serial views", text: "new\ntable")

    @Test func `The text between the markers is replaced, and the prose around them is kept`()
        throws
    {
        let page = "# P\n\nbefore\n\n<!-- table serial -->\nold\n\nolder\n<!-- end -->\n\nafter\n"
        let filled = try Markers.filled(page, with: [block])
        #expect(
            filled == "# P\n\nbefore\n\n<!-- table serial -->\nnew\ntable\n<!-- end -->\n\nafter\n")
        #expect(try Markers.filled(filled, with: [block]) == filled)
    }

    @Test func `The tables of other suites stay unchanged`() throws {
        let page = "<!-- table async -->\nkept\n<!-- end -->\n<!-- table serial -->\n<!-- end -->\n"
        let filled = try Markers.filled(page, with: [block])
        #expect(
            filled
                == "<!-- table async -->\nkept\n<!-- end -->\n<!-- table serial -->\nnew\ntable\n<!-- end -->\n"
        )
    }

    @Test func `A suite that the page does not have yet is appended under its title`() throws {
        let filled = try Markers.filled("# P\n", with: [block])
        #expect(
            filled == "# P\n\n## Serial views\n\n<!-- table serial -->\nnew\ntable\n<!-- end -->\n")
    }

    @Test func `No results change nothing`() throws {
        #expect(try Markers.filled("# P\n\ntext", with: []) == "# P\n\ntext")
    }

    @Test(arguments: [
        "<!-- table serial -->\nold\n",
        "<!-- table serial -->\nold\n<!-- table async -->\n<!-- end -->\n",
        "<!-- table serial -->\n<!-- end -->\n<!-- table serial -->\n<!-- end -->\n",
    ])
    func `Markers that do not form exactly one pair are rejected with a message`(page: String) {
        let fault = #expect(throws: Markers.Fault.self) { try Markers.filled(page, with: [block]) }
        #expect(fault?.description.contains("'<!-- table serial -->'") == true)
    }
}

/// Where a test writes: the folder of a page, and beside it the file of runs.
private struct Place {
    let folder = FileManager.default.temporaryDirectory.appending(path: "report-\(UUID())")
    var docs: URL { folder.appending(path: "Docs") }
    var runs: URL { folder.appending(path: "runs.tsv") }

    func page() throws -> String {
        try String(contentsOf: docs.appending(path: "Performance.md"), encoding: .utf8)
    }
    func kept() throws -> KeptRuns {
        try KeptRuns(parsing: String(contentsOf: runs, encoding: .utf8))
    }
    func remove() { try? FileManager.default.removeItem(at: folder) }
}

extension Report {
    fileprivate func write(to place: Place) throws {
        try write(to: place.docs.path(), runs: place.runs.path())
    }
}

struct ReportTests {
    private let machine = Machine(
        processor: "P 1", system: "Linux", cores: 2, swift: "6.3.1", date: "2026-01-02", rounds: 9,
        only: nil)

    @Test func `The machine's line names processor, cores, system, compiler, date and rounds`() {
        #expect(machine.line == "P 1, 2 cores, Linux, Swift 6.3.1, 2026-01-02, 9 rounds")
        let other = Machine(
            system: "L", cores: 1, swift: nil, date: "d", rounds: 1, isQuick: true, only: "x")
        #expect(other.line == "1 core, L, d, 1 round, quick, only lines with \"x\"")
    }

    @Test(arguments: [
        ("Swift version 6.3.1 (swift-6.3.1-RELEASE)\nTarget: x86_64", "6.3.1"),
        ("Apple Swift version 6.2 (swiftlang)", "6.2"), ("swift: not found", nil),
        ("Swift version ", nil),
    ])
    func `The version is parsed from the compiler's output`(text: String, version: String?) {
        #expect(Machine.version(in: text) == version)
    }

    @Test func `A suite without results has no block, one with figures alone has no chart`() throws
    {
        let bytes = ResultLine(suite: Suite.bytes.title, name: "bytes", bar: "", figure: "64")
        let report = Report(machine: machine, lines: [compared("a view", 6), bytes])
        #expect(report.block(of: .async) == nil)
        #expect(report.chart(of: .bytes) == nil)
        #expect(try #require(report.block(of: .bytes)).text.contains("charts/") == false)
        let serial = try #require(report.block(of: .serial)).text
        #expect(
            serial.contains("\n\n*\(machine.line)*\n\n![\(Suite.serial.title)](charts/serial.svg)"))
        #expect(!serial.contains("bytes"))
    }

    @Test func `A report makes its folder, and a second one replaces only what was measured again`()
        throws
    {
        let place = Place()
        defer { place.remove() }
        try Report(machine: machine, lines: [compared("a view", 6)]).write(to: place)
        let lines = [compared("a reader", 64, suite: .coordinator)]
        try Report(machine: machine, lines: lines).write(to: place)
        let page = try place.page()
        #expect(page.hasPrefix("# Performance\n"))
        #expect(page.contains("| a view |") && page.contains("| a reader |"))
        let charts = try FileManager.default.contentsOfDirectory(
            atPath: place.docs.appending(path: "charts").path())
        #expect(charts.sorted() == ["coordinator.svg", "serial.svg"])
        let kept = try place.kept()
        #expect(kept.runs.flatMap(\.suites).map(\.name) == ["coordinator", "serial"])
    }

    @Test func `The file of the kept runs needs a folder, and the project has one`() throws {
        let place = Place()
        defer { place.remove() }
        #expect(!Report.canKeep(in: place.runs.path()))
        try FileManager.default.createDirectory(
            at: place.folder, withIntermediateDirectories: true)
        #expect(Report.canKeep(in: place.runs.path()))
        let package = URL(filePath: #filePath).appending(path: "../../..").standardized
        let runs = package.appending(path: "runs.tsv")
        #expect(try !KeptRuns(parsing: String(contentsOf: runs, encoding: .utf8)).runs.isEmpty)
    }

    @Test
    func `A table has the range over machines, and a second run of a kind replaces its first`()
        throws
    {
        let place = Place()
        defer { place.remove() }
        func table(
            _ ratio: Double, beside: Bool = false, _ change: (inout Machine) -> Void = { _ in }
        ) throws -> String {
            var machine = machine
            change(&machine)
            let lines = [compared("a view", ratio, bar: ">= 5")]
            try Report(machine: machine, lines: lines, isAnother: beside).write(to: place)
            return try place.page()
        }
        #expect(try !table(6).contains("machines"))
        #expect(
            try table(4) { $0.cores = 8 }.contains(
                "| 4.00 to 6.00, medians 6.00 and 4.00, 2 machines | **>= 5, not reached** |"))
        // Another date and toolchain are still the same kind of machine.
        let again = try table(5) { ($0.date, $0.swift) = ("2026-02-03", "6.4") }
        #expect(again.contains("| 5.00 | 2.50 to 10.0 | 4.00 to 5.00, medians 5.00 and 4.00, "))
        // A quick run is not kept.
        #expect(
            try table(9) { ($0.isQuick, $0.cores) = (true, 16) }.contains(
                "4.00 to 5.00, medians 5.00 and 4.00, "))
        let kept = try place.kept()
        #expect(kept.runs.map(\.kind) == ["P 1, 2 cores, Linux", "P 1, 8 cores, Linux"])
        #expect(kept.runs[0].suites.map(\.toolchain) == ["6.4"])
        // The median of a machine's runs counts, not the last run, and it counts on each machine.
        _ = try table(7, beside: true) { $0.cores = 8 }
        let third = try table(1, beside: true)
        #expect(third.contains("| 1.00 | 0.5 to 2.00 | 1.00 to 7.00, medians 3.00 and 5.50, "))
        #expect(third.contains("**>= 5, not reached**"))
        #expect(try table(6, beside: true).contains("medians 5.00 and 5.50, "))
        #expect(try table(6, beside: true).contains("| >= 5, reached |"))
    }

    @Test func `The page of the project has a pair of markers for every suite`() throws {
        let root = URL(filePath: #filePath).appending(path: "../../../../..").standardized
        let page = try String(
            contentsOf: root.appending(path: "Docs/Performance.md"), encoding: .utf8)
        let lines = Suite.allCases.map { compared("line", 2, suite: $0) }
        let blocks = Suite.allCases.compactMap(Report(machine: machine, lines: lines).block)
        #expect(blocks.count == Suite.allCases.count)
        let filled = try Markers.filled(page, with: blocks)
        // Nothing was appended.
        #expect(filled.split(separator: "\n").last == page.split(separator: "\n").last)
        for suite in Suite.allCases { #expect(page.contains(Markers.begin(suite.rawValue))) }
    }
}
