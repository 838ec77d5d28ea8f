internal import Synchronization

/// What one of several threads decides: the first that calls `make`.
///
/// A simulation may switch threads before each try.
package struct Decision: ~Copyable, Sendable {
    private let isTaken = Atomic<Bool>(false)

    package init() {}

    /// True for the first caller, false for all others.
    @inline(__always)
    package borrowing func make() -> Bool {
        SimulationHooks.point()
        // Acquiring and releasing: a later caller sees what the first one did before.
        return !isTaken.exchange(true, ordering: .acquiringAndReleasing)
    }

    /// Whether it is made, for a read that decides nothing.
    package var isMade: Bool {
        SimulationHooks.look()
        // Acquiring: see `make`.
        return isTaken.load(ordering: .acquiring)
    }

    /// Whether it is made, for a caller that reads nothing which the decision published, or for the
    /// `deinit` of its owner, which comes after all calls: relaxed.
    package var wasMade: Bool { isTaken.load(ordering: .relaxed) }
}
