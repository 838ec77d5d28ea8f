internal import CPlatform

/// Frees things that may each be the last to refer to the next one, a million of them in a row, on a bounded stack.
///
/// A few levels nest, so that a caller finds freed what it has given away. Beyond these a thing is put off until the
/// outermost call on this thread has freed its own.
///
/// | the thread's word | meaning |
/// |---|---|
/// | null | it frees nothing |
/// | odd: twice the depth, and one | it is so many calls deep, and nothing has been put off |
/// | an address | of a `State`: something has been put off |
enum Freeing {
    private static var deepest: UInt { 32 }

    private struct State {
        var depth: UInt
        var putOff: [Any]
    }

    /// Frees `thing`, which the caller gives away.
    static func free<Thing>(_ thing: consuming Thing) {
        let depth = depth
        guard depth < deepest else { return putOff(thing) }
        enter(depth + 1)
        _ = consume thing
        leave(to: depth)
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
            unsafe ec_set_freeing(UnsafeMutableRawPointer(bitPattern: depth << 1 | 1))
        }
    }

    /// Goes back to this depth; the outermost call first frees what was put off.
    private static func leave(to depth: UInt) {
        guard let state = unsafe state else {
            return unsafe ec_set_freeing(
                depth == 0 ? nil : UnsafeMutableRawPointer(bitPattern: depth << 1 | 1))
        }
        if depth == 0 { return unsafe freeAll(of: state) }
        unsafe state.pointee.depth = depth
    }

    private static func putOff<Thing>(_ thing: consuming Thing) {
        if let state = unsafe state { return unsafe state.pointee.putOff.append(thing) }
        let state = UnsafeMutablePointer<State>.allocate(capacity: 1)
        unsafe state.initialize(to: State(depth: deepest, putOff: [thing]))
        unsafe ec_set_freeing(state)
    }

    private static func freeAll(of state: UnsafeMutablePointer<State>) {
        unsafe state.pointee.depth = 1
        while unsafe freeLast(of: state) {}
        ec_set_freeing(nil)
        unsafe state.deinitialize(count: 1)
        unsafe state.deallocate()
    }

    /// Frees what was put off last; false if nothing was. Taken out first: what is freed may put off more.
    private static func freeLast(of state: UnsafeMutablePointer<State>) -> Bool {
        unsafe state.pointee.putOff.popLast() != nil
    }
}
