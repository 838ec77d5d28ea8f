/// The goal of a row: `>= 5`, `<= 70`, `< 100 ms`, or a number that it must equal.
///
/// A figure has the unit of its bar. Beside a ratio, a bar with a unit of time applies to our time.
struct Bar: Equatable {
    enum Relation: String, CaseIterable {
        // The longer relations come first, since the shorter ones are their prefixes.
        case atLeast = ">="
        case atMost = "<="
        case above = ">"
        case below = "<"
        case equal = ""
    }

    var relation: Relation
    var number: Double
    /// The nanoseconds of the bar's unit, if it is a unit of time.
    var unit: Double?

    /// Parses a text. Fails if the text is anything but one relation to one number.
    init?(_ text: String) {
        guard let relation = Relation.allCases.first(where: { text.hasPrefix($0.rawValue) }),
            !text.contains(", "),
            let number = Self.number(in: text.dropFirst(relation.rawValue.count))
        else { return nil }
        self.relation = relation
        self.number = number
        unit = Self.units.first { text.hasSuffix(" \($0.key)") }?.value
    }

    func isReached(by value: Double) -> Bool {
        switch relation {
        case .atLeast: value >= number
        case .atMost: value <= number
        case .above: value > number
        case .below: value < number
        case .equal: value == number
        }
    }

    private static let units = ["ns": 1, "us": 1e3, "ms": 1e6, "s": 1e9]

    /// Parses the number at the start of a text, which may have thousands separators.
    static func number(in text: some StringProtocol) -> Double? {
        let digits = text.drop { $0 == " " }.prefix { $0.isNumber || "-.,eE+".contains($0) }
        return Double(String(digits.filter { $0 != "," }))
    }
}
