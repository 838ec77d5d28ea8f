/// Why an `Async` ended without an outcome of its own.
public enum AsyncError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The promise was let go of before it was completed (law 26).
    case abandoned(promise: String)
    /// The time limit ran out before there was an outcome.
    case timedOut(after: Duration)
    /// The first of no values was asked for.
    case nothingToWaitFor
    /// A completion handler was called with neither a value nor an error.
    case noOutcome
    /// It was made to wait for itself.
    case waitsForItself

    public var description: String {
        switch self {
        case .abandoned(let promise):
            "The promise made at \(promise) was let go of before anybody completed it (law 26). "
                + "Keep it until succeed, fail or complete is called."
        case .timedOut(let limit):
            "There was no outcome within \(limit)."
        case .nothingToWaitFor:
            "The first of an empty sequence was asked for, which never comes (law 24)."
        case .noOutcome:
            "A completion handler was called with neither a value nor an error."
        case .waitsForItself:
            "An Async was made to wait for itself, and would never have ended (law 24)."
        }
    }
}
