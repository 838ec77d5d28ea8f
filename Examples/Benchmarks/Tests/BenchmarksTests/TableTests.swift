import Testing

@testable import Benchmarks

/// A result line with a ratio, for these tests.
func compared(
    _ name: String, _ ratio: Double, bar: String = "", suite: Benchmarks.Suite = .serial
) -> ResultLine {
    ResultLine(
        suite: suite.title, name: name, bar: bar, oursNanoseconds: 10,
        theirsNanoseconds: 10 * ratio,
        ratio: ratio, lowestRatio: ratio / 2, highestRatio: ratio * 2)
}

struct TableTests {
    @Test func `A line that reaches its bar is a row that says so`() {
        #expect(
            Table.markdown([compared("a view", 6.04, bar: ">= 5")]) == """
                |  | ours ns | theirs ns | ratio | rounds | bar |
                | --- | --- | --- | --- | --- | --- |
                | a view | 10 | 60 | 6.04 | 3.02 to 12.1 | >= 5, reached |
                """)
    }

    @Test func `A bar that is not reached is bold, and a missing bar is an empty cell`() {
        let table = Table.markdown([compared("slow", 1.5, bar: ">= 2"), compared("any", 0.33)])
        #expect(table.contains("| 1.50 | 0.75 to 3.00 | **>= 2, not reached** |"))
        #expect(table.contains("| 0.33 | 0.17 to 0.66 |  |"))
    }

    @Test func `Figures without a ratio have a table of their own, after the others`() {
        let figure = ResultLine(
            suite: "s", name: "bytes", bar: "<= 70", figure: "        64        192")
        let table = Table.markdown([figure, compared("a view", 6)])
        #expect(table.hasPrefix("|  | ours ns"))
        #expect(
            table.hasSuffix(
                """


                |  | measured | bar |
                | --- | --- | --- |
                | bytes | 64 / 192 | &lt;= 70, reached |
                """))
    }

    @Test func `Without lines there is no table`() {
        #expect(Table.markdown([]) == "")
    }

    @Test func `Characters that would end a cell or a row, or begin a tag, are escaped`() {
        let row = Table.markdown([compared("a | b <b>\nc \\ d", 2)]).split(separator: "\n").last!
        #expect(row.hasPrefix("| a \\| b &lt;b> c \\\\ d | "))
    }

    @Test(arguments: [
        (1e-7, "1.0e-07"), (0.0004, "4.0e-04"), (0.0125, "0.013"), (0.33, "0.33"), (1, "1.00"),
        (9.994, "9.99"),
        (28.61, "28.6"), (128_000, "128000"), (5e9, "5.0e+09"), (0, "0"), (.infinity, "-"),
        (.nan, "-"),
    ])
    func `Ratios show their significant digits, also huge and tiny ones`(
        ratio: Double, text: String
    ) {
        #expect(ratio.asRatio == text)
    }
}

struct BarTests {
    @Test(arguments: [
        (">= 5", 5, true), (">= 5", 4.99, false), ("<= 70", 70, true), ("<= 70", 71, false),
        ("< 100 ms", 99, true), ("< 100 ms", 100, false), ("> 1", 1, false), ("1", 1, true),
        ("1", 2, false),
        (">= 10,000", 9_999, false), (">= 0.95", 0.95, true), (">= -1", 0, true),
    ])
    func `A bar says whether a number reaches it`(text: String, value: Double, isReached: Bool) {
        #expect(Bar(text)?.isReached(by: value) == isReached)
    }

    @Test(arguments: ["", "about 1", ">= 0, median <= 300", ">=", "<= fast"])
    func `A text that is not one relation to one number is no bar`(text: String) {
        #expect(Bar(text) == nil)
        #expect(compared("x", 1, bar: text).isReached == nil)
    }

    @Test(arguments: [
        ("3.2 ms", true), ("  64  192", true), ("10,200 schedules/s", false), ("none", nil),
    ])
    func `A figure is compared by the number that it begins with`(figure: String, isReached: Bool?)
    {
        let line = ResultLine(suite: "s", name: "n", bar: "<= 100", figure: figure)
        #expect(line.isReached == isReached)
    }

    @Test(arguments: [("<= 200 ms", true), ("<= 100 ms", false), (">= 2", false), ("<= 1 s", true)])
    func `Beside a ratio, a bar with a unit of time applies to the time of ours`(
        bar: String, isReached: Bool
    ) {
        let line = ResultLine(
            suite: "s", name: "n", bar: bar, oursNanoseconds: 113e6, theirsNanoseconds: 113e6,
            ratio: 1)
        #expect(line.isReached == isReached)
        #expect((line.goal == nil) == bar.hasSuffix("s"))
    }
}
