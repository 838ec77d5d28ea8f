/// What a line is to reach: `>= 5`, `<= 70`, `< 100 ms`, or a number that it must be.
///
/// A figure is written in the unit of its bar. Beside a ratio a bar with a unit of time is one for the time of ours.
struct Bar: Equatable {
    enum Relation: String, CaseIterable {
        // Longer ones first, since they begin like the shorter.
        case atLeast = ">="
        case atMost = "<="
        case above = ">"
        case below = "<"
        case equal = ""
    }

    var relation: Relation
    var number: Double
    /// How many nanoseconds its unit has, if that is one of time.
    var unit: Double?

    /// Nil where the text says something else, or more than one thing.
    init?(_ text: String) {
        guard let relation = Relation.allCases.first(where: { text.hasPrefix($0.rawValue) }),
            !text.contains(", "), let number = Self.number(in: text.dropFirst(relation.rawValue.count))
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

    /// The number that a text begins with, which may have commas between its thousands.
    static func number(in text: some StringProtocol) -> Double? {
        let digits = text.drop { $0 == " " }.prefix { $0.isNumber || "-.,eE+".contains($0) }
        return Double(String(digits.filter { $0 != "," }))
    }
}
