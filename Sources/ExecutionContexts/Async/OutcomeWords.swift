internal import Synchronization

/// Room for two words of anything, at an address of its own.
///
/// Made of atomics, which nothing copies or moves. Two plain numbers would be copied by whoever asks for their address,
/// and the optimizer, which sees that numbers outlive everybody, then frees the cell before it has counted what was
/// read from the copy.
@usableFromInline
struct OutcomeWords: ~Copyable {
    private let first = Atomic<UInt>(0)
    private let second = Atomic<UInt>(0)
}
