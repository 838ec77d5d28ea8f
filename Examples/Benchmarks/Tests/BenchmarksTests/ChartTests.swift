import Testing

@testable import Benchmarks

struct ChartTests {
    private func chart(_ lines: [ResultLine], title: String = "A suite") throws -> Picture {
        try Picture(#require(Chart(title, note: "a machine", lines)?.svg))
    }

    @Test func `Without results, or with figures alone, there is no chart`() {
        #expect(Chart("t", note: "n", []) == nil)
        #expect(
            Chart("t", note: "n", [ResultLine(suite: "t", name: "bytes", bar: "<= 7", figure: "6")])
                == nil)
    }

    @Test func `One line is one bar with its name, its ratio and its goal`() throws {
        let picture = try chart([compared("a view", 6.04, bar: ">= 5")])
        #expect(picture.rectangles.map { $0["class"] } == ["faster"])
        #expect(picture.goals.count == 1)
        for text in ["A suite", "a view", "6.04", "a machine", "1"] {
            #expect(picture.texts.contains(text))
        }
    }

    @Test func `The class of a bar says whether its goal is missed and whether it is slower`()
        throws
    {
        let picture = try chart([
            compared("slow", 1.5, bar: ">= 2"), compared("half", 0.5),
            compared("fine", 0.5, bar: ">= 0.4"),
        ])
        #expect(picture.rectangles.map { $0["class"] } == ["missed", "slower", "slower"])
    }

    @Test func `Texts appear in the chart unchanged, whatever characters they contain`() throws {
        let name = "a < b && \"c\" > 'd'"
        let picture = try chart([compared(name, 2)], title: "</text><script>1</script>")
        #expect(picture.texts.contains(name))
        #expect(picture.texts.contains("</text><script>1</script>"))
        #expect(Chart.escaped("a\u{0}b\nc") == "a b c")
    }

    @Test(arguments: [1e-12, 1e-4, 0.999, 1, 3, 5e4, 1e15])
    func `Bars of huge and tiny ratios stay within the chart`(ratio: Double) throws {
        let picture = try chart([compared("extreme", ratio, bar: ">= 2"), compared("usual", 2)])
        let numbers = ["x", "width"].flatMap { key in
            picture.rectangles.compactMap { Double($0[key] ?? "") }
        }
        #expect(numbers.count == 4)
        #expect(numbers.allSatisfy { $0.isFinite && $0 >= 1 && $0 < 1_000 })
        #expect(picture.texts.contains(ratio.asRatio))
    }

    @Test(arguments: [0, -1, .nan, .infinity])
    func `An invalid ratio has a line without a bar`(ratio: Double) throws {
        let picture = try chart([compared("broken", ratio)])
        #expect(picture.rectangles.isEmpty)
        #expect(picture.texts.contains("broken"))
    }

    @Test func `The length of a bar follows the logarithm of its ratio`() throws {
        let picture = try chart([
            compared("ten", 10), compared("hundred", 100), compared("tenth", 0.1),
        ])
        let widths = picture.rectangles.map { Double($0["width"]!)! }
        #expect(abs(widths[1] - 2 * widths[0]) < 0.5)
        #expect(abs(widths[2] - widths[0]) < 0.5)
    }
}

struct AxisTests {
    @Test(
        arguments: [[], [1], [2, 3.5], [0.3], [0.004, 700], [1e-300, 1e300], [.nan, 0, -4]]
            as [[Double]])
    func `Every axis includes 1 and its numbers, and has a few marks in order`(numbers: [Double]) {
        let axis = Axis(for: numbers)
        #expect(axis.low < axis.high)
        #expect(axis.low <= 1.000001 && axis.high >= 0.999999)
        #expect(axis.marks == axis.marks.sorted())
        #expect((1...12).contains(axis.marks.count))
        #expect(axis.marks.contains { abs($0 - 1) < 1e-6 })
        for number in numbers + [1] { #expect((0...1).contains(axis.place(number))) }
    }
}
