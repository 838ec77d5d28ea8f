/// One row of the results: a comparison of two alternatives, or a figure.
struct ResultLine: Encodable, Equatable {
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

    /// Whether the row reaches its bar, or nil if it has none or `Bar` cannot parse it.
    var isReached: Bool? {
        guard let bar = Bar(bar) else { return nil }
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
