/// What a subscriber is told of the work that it wants.
public enum WorkEvent<Value: Sendable>: Sendable {
    /// How far the work has come.
    case progress(WorkProgress)
    /// A value on the way to the last one, such as a preview.
    case partial(Value)
    /// The end: a value, or an error. It comes once, and nothing comes after it (law 31).
    case finished(Result<Value, any Error>)

    /// The value, a last one or one on the way; nil for progress and failure.
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

/// How far work has come, in whatever is counted: bytes, steps, pages.
public struct WorkProgress: Hashable, Sendable {
    /// What has been done.
    public var completed: Int64
    /// What there is to do, or 0 where that is not known.
    public var total: Int64

    /// Makes one that says that so much of so much is done.
    public init(completed: Int64, total: Int64 = 0) {
        self.completed = completed
        self.total = total
    }
}

/// Why work failed that nobody made fail.
public enum WorkError: Error, Hashable, Sendable, CustomStringConvertible {
    /// It needs itself: the names of the works on the way round, the first of them once more at the end.
    case cycle([String])
    /// Its flight was let go of without an end (law 26).
    case dropped(String)

    public var description: String {
        switch self {
        case .cycle(let names):
            "Work cannot depend on itself (law 32): \(names.joined(separator: " -> ")). Break the circle where one of "
                + "them depends on the next."
        case .dropped(let name):
            "'\(name)' was let go of without an end (law 26). Keep its flight until you call succeed, fail or complete."
        }
    }
}
