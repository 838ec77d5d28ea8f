internal import Synchronization

/// Lets exactly one of all who ask be the first.
///
/// ```swift
/// let finish = Once()
/// finish { print("the first answer is the one that counts") }
/// ```
///
/// It is not for making a value when it is first needed: a `static let` does that. Nor does it make the others wait: who
/// is not the first goes on at once, perhaps before the winner's body has ended.
public final class Once: Sendable {
    private let isTaken = Atomic<Bool>(false)

    /// Makes one that nobody has won yet.
    public init() {}

    /// Whether somebody has won it.
    // Acquiring: who sees that it is taken sees what the winner did before.
    public var isClaimed: Bool { isTaken.load(ordering: .acquiring) }

    /// True for the first who asks, false for all others.
    // Acquiring and releasing: the losers see what the winner did before.
    public func claim() -> Bool { !isTaken.exchange(true, ordering: .acquiringAndReleasing) }

    /// Runs `body` for the first who asks; true if that was this call.
    @discardableResult
    public func callAsFunction<Failure: Error>(_ body: () throws(Failure) -> Void) throws(Failure) -> Bool {
        guard claim() else { return false }
        try body()
        return true
    }
}
