/// One law that a context has broken.
public struct LawBreach: Hashable, Sendable, CustomStringConvertible {
    /// The number of the law, as in `Docs/Guarantees.md`.
    public let law: Int
    /// The name of the context.
    public let context: String
    /// What happened: the rest of a sentence whose subject is the context.
    public let happened: String
    /// What to do about it.
    public let remedy: String

    /// Creates a breach, for custom checks.
    public init(law: Int, context: String, happened: String, remedy: String) {
        self.law = law
        self.context = context
        self.happened = happened
        self.remedy = remedy
    }

    public var description: String { "'\(context)' \(happened) (law \(law)). \(remedy)" }
}
