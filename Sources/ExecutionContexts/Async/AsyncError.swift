/// Why an `Async` completed without an outcome of its own.
public enum AsyncError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The promise was released before it was completed (law 26).
    case abandoned(promise: String)
    /// There was no outcome within the time limit.
    case timedOut(after: Duration)
    /// The first of an empty sequence was requested.
    case nothingToWaitFor
    /// The caller of a completion handler passed neither a value nor an error.
    case noOutcome
    /// The `Async` was made to follow itself.
    case waitsForItself

    public var description: String {
        switch self {
        case .abandoned(let promise):
            "The promise made at \(promise) was released before it was completed (law 26). "
                + "Keep it until succeed, fail or complete is called."
        case .timedOut(let limit):
            "There was no outcome within \(limit)."
        case .nothingToWaitFor:
            "The first of an empty sequence was requested, and can never complete (law 24). "
                + "Pass at least one Async."
        case .noOutcome:
            "A completion handler was called with neither a value nor an error. Pass one of them."
        case .waitsForItself:
            "An Async follows itself, and could never complete (law 24). Return or follow another one."
        }
    }
}
