/// Formats values of the program.
enum ValueText {
    /// The value as text; nil for one whose description is code of the program, which could reach
    /// scheduling points.
    static func of<Value>(_ value: Value) -> String? {
        let parts = String(reflecting: Value.self).split { "<>,() []".contains($0) }
        // A value of any type may have a description in the program's code.
        let isAny = parts.contains {
            ["Swift.Error", "Swift.Sendable", "Swift.AnyHashable"].contains($0)
                // An address differs in each process.
                || $0.hasSuffix("Pointer") || $0 == "Swift.Unmanaged"
        }
        guard parts.allSatisfy({ $0.hasPrefix("Swift.") }), !isAny else { return nil }
        // Equal sets have equal texts, whatever their order in memory.
        let isUnordered = parts.contains("Swift.Set") || parts.contains("Swift.Dictionary")
        let text = isUnordered ? ordered(value) : "\(value)"
        return text.count <= mostCharacters ? text : text.prefix(mostCharacters) + "..."
    }

    /// The description of a value of the standard library, with its sets and dictionaries in order.
    private static func ordered(_ value: Any) -> String {
        let mirror = Mirror(reflecting: value)
        let parts = mirror.children.map { ordered($0.value) }
        return switch mirror.displayStyle {
        case .set: "[" + parts.sorted().joined(separator: ", ") + "]"
        case .dictionary where parts.isEmpty: "[:]"
        case .dictionary: "[" + parts.sorted().joined(separator: ", ") + "]"
        case .collection: "[" + parts.joined(separator: ", ") + "]"
        // A dictionary has pairs of a key and a value.
        case .optional where parts.count == 1: "Optional(\(parts[0]))"
        case .tuple: parts.joined(separator: ": ")
        default: String(reflecting: value)
        }
    }

    private static let mostCharacters = 60
}
