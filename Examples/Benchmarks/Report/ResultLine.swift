/// One line of the results: two ways beside each other, or a figure.
struct ResultLine: Encodable, Equatable {
    /// The title of the suite.
    var suite: String
    var name: String
    /// What the line is to reach, as people write it; empty where there is nothing to reach.
    var bar: String
    var figure: String?
    var oursNanoseconds: Double?
    var theirsNanoseconds: Double?
    var ratio: Double?
    var lowestRatio: Double?
    var highestRatio: Double?

    /// Whether it reaches its bar; nil where it has none, or one that only people can read.
    var isReached: Bool? {
        guard let bar = Bar(bar) else { return nil }
        if let unit = bar.unit, let oursNanoseconds { return bar.isReached(by: oursNanoseconds / unit) }
        if let ratio { return bar.isReached(by: ratio) }
        return figure.flatMap { Bar.number(in: $0) }.map(bar.isReached)
    }

    /// The ratio that it is to reach, if its bar is one.
    var goal: Double? {
        guard let bar = Bar(bar), bar.unit == nil, ratio != nil else { return nil }
        return bar.number
    }
}
