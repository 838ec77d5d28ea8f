internal import CPlatform

/// Releases a chain of references, each of which may be the last to the next, without recursing.
///
/// The captures of a freed callback may include the last reference to the next promise, and so on,
/// a million in a row (law 25).
///
/// A few levels nest, so that a value is usually freed when the call returns. The outermost call on
/// the thread frees the values below these.
///
/// | the thread's word | meaning |
/// |---|---|
/// | null | the thread frees nothing |
/// | odd: twice the depth, and one | the thread is that many calls deep, and nothing is deferred |
/// | an address | of a `State`: values are deferred |
package enum Freeing {
    private static var maxDepth: UInt { 32 }

    private struct State {
        var depth: UInt
        var deferred: [Any]
    }

    /// Frees `value`, which the caller gives up.
    package static func free<Value>(_ value: consuming Value) {
        guard let depth = descend() else { return postpone(value) }
        _ = consume value
        ascend(to: depth)
    }

    /// Enters the next level, for a caller that frees what it owns: the depth so far, to which it
    /// then ascends. Nil at the deepest level, where it postpones the frees.
    @inline(__always)
    static func descend() -> UInt? {
        let depth = depth
        guard depth < maxDepth else { return nil }
        enter(depth + 1)
        return depth
    }

    private static var word: UInt { unsafe UInt(bitPattern: ec_freeing()) }

    private static var depth: UInt {
        if word & 1 == 1 || word == 0 { return word >> 1 }
        return unsafe state.unsafelyUnwrapped.pointee.depth
    }

    private static var state: UnsafeMutablePointer<State>? {
        word & 1 == 1 ? nil : unsafe ec_freeing()?.assumingMemoryBound(to: State.self)
    }

    private static func enter(_ depth: UInt) {
        if let state = unsafe state {
            unsafe state.pointee.depth = depth
        } else {
            unsafe ec_set_freeing(
                depth == 0 ? nil : UnsafeMutableRawPointer(bitPattern: depth << 1 | 1))
        }
    }

    /// Returns to this depth; the outermost call first frees the deferred values.
    static func ascend(to depth: UInt) {
        if depth == 0, let state = unsafe state { return unsafe freeAll(of: state) }
        enter(depth)
    }

    static func postpone<Value>(_ value: consuming Value) {
        if let state = unsafe state { return unsafe state.pointee.deferred.append(value) }
        let state = UnsafeMutablePointer<State>.allocate(capacity: 1)
        unsafe state.initialize(to: State(depth: maxDepth, deferred: [value]))
        unsafe ec_set_freeing(state)
    }

    private static func freeAll(of state: UnsafeMutablePointer<State>) {
        unsafe state.pointee.depth = 1
        // Each is removed before it is freed: its deinit may defer more.
        while unsafe state.pointee.deferred.popLast() != nil {}
        ec_set_freeing(nil)
        unsafe state.deinitialize(count: 1)
        unsafe state.deallocate()
    }
}
