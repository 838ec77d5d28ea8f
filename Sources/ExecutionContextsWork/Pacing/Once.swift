internal import ExecutionContexts

/// Allows exactly one of several callers to proceed: the first.
///
/// ```swift
/// let finish = Once()
/// finish { print("the first answer is the one that counts") }
/// ```
///
/// For lazy initialization use a `static let` instead. The other callers do not wait: they continue
/// at once, perhaps before the first caller's body has ended.
public final class Once: Sendable {
    private let decision = Decision()

    /// Creates an instance that no caller has claimed.
    public init() {}

    /// Whether a caller has claimed it.
    public var isClaimed: Bool { decision.isMade }

    /// Returns true to the first caller and false to all others.
    public func claim() -> Bool { decision.make() }

    /// Runs `body` for the first caller; true if that was this call.
    @discardableResult
    public func callAsFunction<Failure: Error>(_ body: () throws(Failure) -> Void) throws(Failure)
        -> Bool
    {
        guard claim() else { return false }
        try body()
        return true
    }
}
