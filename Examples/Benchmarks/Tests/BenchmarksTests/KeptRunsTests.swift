import Testing

@testable import Benchmarks

struct KeptRunsTests {
    private func suite(_ name: String, _ lines: [ResultLine]) -> KeptRuns.Suite {
        KeptRuns.Suite(
            name: name, date: "2026-01-02", toolchain: "6.3.1", rows: lines.map(KeptRuns.Row.init))
    }

    private func figure(_ text: String) -> ResultLine {
        ResultLine(suite: "s", name: "bytes", bar: "", figure: text)
    }

    @Test func `Kept runs are a text with a line for each machine, suite and row`() {
        var runs = KeptRuns()
        runs.keep([suite("serial", [compared("a\tview", 6.04), figure("  64   192")])], of: "a PC")
        #expect(
            runs.text.split(separator: "\n").dropFirst() == [
                "machine\ta PC", "suite\tserial\t2026-01-02\t6.3.1", "row\ta view\t10\t60\t6.04",
                "figure\tbytes\t64 192",
            ])
    }

    @Test func `A text that was parsed is written the same`() throws {
        var runs = KeptRuns()
        runs.keep(
            [suite("b", [compared("x", 1e-7), figure("none")]), suite("a", [compared("y", 2e6)])],
            of: "one")
        runs.keep([suite("a", [])], of: "another")
        let parsed = try KeptRuns(parsing: runs.text)
        #expect(parsed.text == runs.text)
        #expect(parsed.runs.map(\.kind) == ["another", "one"])
        #expect(parsed.runs[1].suites.map(\.name) == ["a", "b"])
        #expect(try KeptRuns(parsing: "") == KeptRuns())
    }

    @Test(arguments: [
        "row\tx\t1\t2\t3", "suite\ta\tb\tc", "machine\tm\nrow\tx\t1\t2\t3",
        "machine\tm\nsuite\ta\tb\tc\nrow\tx\t1\t2\tfast", "machine\tm\nsuite\ta\tb",
        "machine", "<<<<<<< HEAD",
    ])
    func `A line out of its place is rejected with its number`(text: String) {
        let fault = #expect(throws: KeptRuns.Fault.self) { try KeptRuns(parsing: text) }
        let number = text.split(separator: "\n").count
        #expect(fault?.description.contains("Line \(number) ") == true)
    }

    @Test func `A suite that is measured again replaces its rows, and the other suites stay`() {
        var runs = KeptRuns()
        runs.keep(
            [suite("a", [compared("x", 1), compared("gone", 1)]), suite("b", [compared("x", 7)])],
            of: "one")
        runs.keep([suite("a", [compared("x", 2)])], of: "one")
        #expect(runs.measured(compared("x", 1), in: "a").machines == [[2]])
        #expect(runs.measured(compared("gone", 1), in: "a").count == 0)
        #expect(runs.measured(compared("x", 1), in: "b").machines == [[7]])
    }

    @Test func `Of the runs that are kept beside each other the last five stay, in their order`() {
        var runs = KeptRuns()
        for ratio in 1...7 {
            let lines = [suite("b", [compared("x", Double(ratio))]), suite("a", [])]
            runs.keep(lines, of: "one", beside: true)
        }
        let measured = runs.measured(compared("x", 1), in: "b")
        #expect(measured.machines == [[3, 4, 5, 6, 7]])
        #expect(measured.text == "3.00 to 7.00, median 5.00, 5 runs")
        #expect(
            runs.runs[0].suites.map(\.name) == Array(repeating: "a", count: 5)
                + "bbbbb".map(String.init))
    }

    @Test func `The numbers of a row are of the machines that have it, and of no other suite`() {
        var runs = KeptRuns()
        for (kind, ratio) in [("one", 3.0), ("two", 1.5), ("three", 2)] {
            runs.keep(
                [suite("a", [compared("x", ratio), figure("\(Int(ratio * 100)) B")])], of: kind)
        }
        runs.keep([suite("b", [compared("x", 100)])], of: "four")
        // In the order of the kinds' names.
        #expect(runs.measured(compared("x", 1), in: "a").medians == [3, 2, 1.5])
        #expect(runs.measured(figure(""), in: "a").medians == [300, 200, 150])
        #expect(runs.measured(compared("y", 1), in: "a").text == nil)
    }

    @Test(arguments: [("<= 1 us", 0.01), (">= 2", 6), ("", 6)])
    func `A bar that is a time is compared with our times`(bar: String, number: Double) {
        var runs = KeptRuns()
        runs.keep([suite("a", [compared("x", 6)])], of: "one")
        #expect(runs.measured(compared("x", 1, bar: bar), in: "a").machines == [[number]])
    }

    @Test(arguments: [
        ("processor : 0\nmodel name\t: A PC: 3 GHz\nmodel name : other", "A PC: 3 GHz"),
        ("processor : 0", nil), ("model name :", nil),
    ])
    func `The processor's name is parsed from the system's text`(text: String, name: String?) {
        #expect(processorName(in: text) == name)
    }
}
