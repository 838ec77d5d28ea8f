internal import CPlatform

/// Frees things that may each be the last to refer to the next one, a million of them in a row, on a bounded stack.
///
/// A few levels nest, so that a caller finds freed what it has given away. Beyond these a thing is put off until the
/// outermost call on this thread has freed its own.
enum Freeing {
    private static var deepest: Int { 32 }

    /// What a thread frees now; the thread's word points to it meanwhile.
    private struct State {
        var depth = 1
        var putOff: [Any] = []
    }

    /// Frees `thing`, which the caller gives away.
    static func free<Thing>(_ thing: consuming Thing) {
        guard let state = unsafe ec_freeing()?.assumingMemoryBound(to: State.self) else {
            return freeFirst(thing)
        }
        guard unsafe state.pointee.depth < deepest else { return unsafe state.pointee.putOff.append(thing) }
        unsafe state.pointee.depth += 1
        _ = consume thing
        unsafe state.pointee.depth -= 1
    }

    private static func freeFirst<Thing>(_ thing: consuming Thing) {
        let state = UnsafeMutablePointer<State>.allocate(capacity: 1)
        unsafe state.initialize(to: State())
        unsafe ec_set_freeing(state)
        _ = consume thing
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
