internal import CPlatform
internal import Synchronization

/// A word on which one thread parks, and which keeps a wake-up that comes first.
///
/// For threads of the library outside of simulations: it is no scheduling point.
struct ParkWord: ~Copyable, Sendable {
    private let word = Atomic<UInt32>(0)

    /// Wakes the thread, or makes its next `park` return at once.
    borrowing func unpark() {
        // Releasing: the thread sees what the caller did.
        word.store(1, ordering: .releasing)
        unsafe withUnsafePointer(to: word) { unsafe ec_wake_one($0) }
    }

    /// Parks until a wake-up, and takes it (true), or until the monotonic clock shows `deadline`.
    @discardableResult
    borrowing func park(until deadline: Int64 = Parker.never) -> Bool {
        // Acquiring, here and below: see `unpark`.
        while word.load(ordering: .acquiring) == 0,
            deadline == Parker.never || MonotonicClock.nanoseconds < deadline
        {
            unsafe withUnsafePointer(to: word) { unsafe ec_wait($0, 0, deadline) }
        }
        return word.exchange(0, ordering: .acquiring) == 1
    }
}
