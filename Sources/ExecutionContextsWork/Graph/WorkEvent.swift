/// An event that a subscriber receives from its work.
public enum WorkEvent<Value: Sendable>: Sendable {
    /// The progress of the work.
    case progress(WorkProgress)
    /// A value before the final one, such as a preview.
    case partial(Value)
    /// The end: a value, or an error. It is delivered once, and no event follows it (law 31).
    case finished(Result<Value, any Error>)

    /// The value, final or partial; nil for progress and failure.
    public var value: Value? {
        switch self {
        case .partial(let value), .finished(.success(let value)): value
        case .progress, .finished(.failure): nil
        }
    }

    /// The outcome, if this is the end.
    public var outcome: Result<Value, any Error>? {
        if case .finished(let outcome) = self { outcome } else { nil }
    }
}

/// The progress of work, in any unit: bytes, steps, pages.
public struct WorkProgress: Hashable, Sendable {
    /// The completed units.
    public var completed: Int64
    /// The total units, or 0 if unknown.
    public var total: Int64

    /// Creates a progress of `completed` of `total` units.
    public init(completed: Int64, total: Int64 = 0) {
        self.completed = completed
        self.total = total
    }
}

/// An error with which the library, not the body, ends work.
public enum WorkError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The work needs itself: the names of the items along the cycle, with the first one repeated
    /// at the end.
    case cycle([String])
    /// The flight was released before the work had ended (law 26).
    case dropped(String)

    public var description: String {
        switch self {
        case .cycle(let names):
            "Work cannot depend on itself (law 32): \(names.joined(separator: " -> ")). Break the cycle where one of "
                + "them depends on the next."
        case .dropped(let name):
            "The flight of '\(name)' was released before its work had ended (law 26). "
                + "Keep it until you call succeed, fail or complete."
        }
    }
}
