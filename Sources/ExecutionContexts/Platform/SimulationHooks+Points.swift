public import CPlatform
public import Synchronization

// The scheduling points of the library's primitives, inlined into client code.
extension SimulationHooks {
    /// See `ec_mode`.
    @inlinable @inline(__always)
    static var mode: UInt32 { ec_mode() }

    /// Stores a value so that other threads see it before the caller's next load happens.
    ///
    /// In portable mode, by a full barrier of its own. Otherwise only the compiler is kept from
    /// reordering: the other side of the handshake calls `ec_barrier` between its own store and
    /// load. The fence before the store is for the compiler's reference counting, which would
    /// otherwise move a retain below it.
    @inlinable @inline(__always)
    static func publish(
        _ value: UInt32, in word: UnsafeMutablePointer<Atomic<UInt32>>, mode: UInt32
    ) {
        ec_compiler_fence()
        if mode == 0 {
            // Releasing: a thread that sees the value sees what the caller did before.
            unsafe word.pointee.store(value, ordering: .releasing)
            return ec_compiler_fence()
        }
        if mode & UInt32(EC_MODE_SIMULATED) != 0 { unsafe willTouch(word) }
        _ = unsafe word.pointee.exchange(value, ordering: .sequentiallyConsistent)
    }

    @inlinable @inline(__always)
    static func publish(_ value: UInt, in word: UnsafeMutablePointer<Atomic<UInt>>, mode: UInt32) {
        if mode == 0 { return unsafe publishAtOnce(value, in: word) }
        ec_compiler_fence()
        if mode & UInt32(EC_MODE_SIMULATED) != 0 { unsafe willTouch(word) }
        _ = unsafe word.pointee.exchange(value, ordering: .sequentiallyConsistent)
    }

    /// The same, for a caller that knows that the mode is zero.
    @inlinable @inline(__always)
    static func publishAtOnce(_ value: UInt, in word: UnsafeMutablePointer<Atomic<UInt>>) {
        ec_compiler_fence()
        // Releasing, as above.
        unsafe word.pointee.store(value, ordering: .releasing)
        ec_compiler_fence()
    }

    /// A scheduling point before the caller uses a word, if any thread is simulated.
    @inlinable @inline(__always)
    static func point(_ word: UnsafeRawPointer, mode: UInt32) {
        if mode & UInt32(EC_MODE_SIMULATED) != 0 { unsafe willTouch(word) }
    }

    /// A scheduling point before the caller reads a word, if any thread is simulated.
    @inlinable @inline(__always)
    static func pointToRead(_ word: UnsafeRawPointer, mode: UInt32) {
        if mode & UInt32(EC_MODE_SIMULATED) != 0 { unsafe willRead(word) }
    }

    @usableFromInline @inline(never)
    static func willRead(_ word: UnsafeRawPointer) { unsafe current?.willRead(word) }

    /// A scheduling point before an operation on a word that has no name.
    @inlinable @inline(__always)
    package static func point() {
        if ec_mode() & UInt32(EC_MODE_SIMULATED) != 0 { pointOfSimulation() }
    }

    @usableFromInline @inline(never)
    static func pointOfSimulation() { current?.willStep() }

    /// Reports that the caller reads a word at no scheduling point.
    package static func look() {
        if ec_mode() & UInt32(EC_MODE_SIMULATED) != 0 { current?.didLook() }
    }

    /// A scheduling point before a try to take a lock, if any thread is simulated.
    @inlinable @inline(__always)
    static func attempt(_ owner: UnsafeRawPointer, waits: Bool, mode: UInt32) {
        if mode & UInt32(EC_MODE_SIMULATED) != 0 { unsafe willEnter(owner, waits: waits) }
    }

    @usableFromInline @inline(never)
    static func willEnter(_ owner: UnsafeRawPointer, waits: Bool) {
        unsafe current?.willEnter(owner, waits: waits)
    }
}
