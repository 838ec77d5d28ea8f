internal import Synchronization

/// Storage for two words of any type, at a stable address.
///
/// Made of atomics, which are never copied or moved. Code that asks for the address of two plain
/// integers would get that of a copy. The optimizer assumes that integers need no owner, and would
/// then free the future state before what was read from the copy is retained.
@usableFromInline
struct OutcomeWords: ~Copyable {
    private let first = Atomic<UInt>(0)
    private let second = Atomic<UInt>(0)
}
