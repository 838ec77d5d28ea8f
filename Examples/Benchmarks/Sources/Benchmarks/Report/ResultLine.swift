/// One row of the results: a comparison of two alternatives, or a figure.
struct ResultLine: Codable, Equatable {
    /// The title of the suite.
    var suite: String
    var name: String
    /// The goal of the row as text, or empty if it has none.
    var bar: String
    var figure: String?
    var oursNanoseconds: Double?
    var theirsNanoseconds: Double?
    var ratio: Double?
    var lowestRatio: Double?
    var highestRatio: Double?

    /// The kept runs' numbers for the row; not a part of its JSON.
    var kept = KeptRuns.Measured()

    private enum CodingKeys: String, CodingKey {
        case suite, name, bar, figure, oursNanoseconds, theirsNanoseconds
        case ratio, lowestRatio, highestRatio
    }

    /// Whether the row reaches its bar, or nil if it has none or `Bar` cannot parse it.
    ///
    /// The medians of the kept runs must reach it, on each kind of machine; without kept runs, this
    /// run.
    var isReached: Bool? {
        guard let bar = Bar(bar) else { return nil }
        if kept.count > 0 { return kept.medians.allSatisfy(bar.isReached) }
        if let unit = bar.unit, let oursNanoseconds {
            return bar.isReached(by: oursNanoseconds / unit)
        }
        if let ratio { return bar.isReached(by: ratio) }
        return figure.flatMap { Bar.number(in: $0) }.map(bar.isReached)
    }

    /// The ratio that the row must reach, if its bar is a ratio.
    var goal: Double? {
        guard let bar = Bar(bar), bar.unit == nil, ratio != nil else { return nil }
        return bar.number
    }
}
