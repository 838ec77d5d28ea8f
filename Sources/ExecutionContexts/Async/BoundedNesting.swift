public import CPlatform

/// Bounds how deep callbacks, cancelling and freeing nest on one thread; `DeferredCalls` has what
/// is deeper.
///
/// These can recurse without bound, a million levels deep:
/// - A callback completes a promise, whose callbacks complete the next promise, and so on.
/// - Cancelling runs up a chain, and handlers of `onCancel` cancel states that have handlers.
/// - A lazy future begins, and follows another lazy one, which begins, and so on.
/// - The captures of a freed callback include the last reference to the next promise.
///
/// Unbounded nesting would overflow the stack, and moving the calls elsewhere would change the
/// thread (law 25). So a few levels nest, as with `.immediate`, and deeper calls are deferred and
/// run one after the other, on the same thread.
@usableFromInline
package enum BoundedNesting {
    @usableFromInline static let deepest: UInt32 = 32

    /// Notifies the subscribers of `state`, the first callback first.
    @inline(__always)
    static func notify(by state: FutureState, _ first: consuming Callback.Body? = nil) {
        guard descend() else {
            if let first { state.putBack(first) }
            return DeferredCalls.append(toNotify: state)
        }
        state.notifyAll(consume first)
        ascend()
    }

    /// Cancels `state`, which has no interested subscriber left.
    static func cancel(_ state: FutureState) {
        guard descend() else { return DeferredCalls.append(toCancel: state) }
        _ = state.cancel()
        ascend()
    }

    /// Begins `state`, a lazy one whose first subscriber has arrived.
    static func begin(_ state: FutureState) {
        guard descend() else { return DeferredCalls.append(toCall: [{ state.begin() }]) }
        // The subscribers that arrive later share what it begins (law 38).
        Deadline.without { state.begin() }
        ascend()
    }

    /// Makes `state`, which has notified its subscribers, release what it holds until completion.
    static func release(by state: FutureState) {
        guard descend() else { return DeferredCalls.append(toRelease: state) }
        state.didComplete()
        ascend()
    }

    /// Calls handlers of the user, and frees them.
    static func call(_ handlers: consuming [Work]) {
        guard descend() else { return DeferredCalls.append(toCall: handlers) }
        call(each: consume handlers)
        ascend()
    }

    /// Calls handlers of the user, which do not see the deadline of the caller (law 38).
    static func call(each handlers: consuming [Work]) {
        let handlers = handlers
        Deadline.without { for handler in handlers { handler() } }
    }

    /// Frees a value that may own objects of the user; consumes it.
    package static func free<Thing>(_ thing: consuming Thing) {
        guard descend() else { return DeferredCalls.append(toFree: thing) }
        _ = consume thing
        ascend()
    }

    /// Enters the next level; false at the deepest level.
    @inlinable @inline(__always)
    static func descend() -> Bool {
        let depth = ec_call_depth()
        guard depth < deepest else { return false }
        ec_set_call_depth(depth + 1)
        return true
    }

    /// Leaves a level; from the deepest one, first runs what was deferred there.
    @inlinable @inline(__always)
    static func ascend() {
        let depth = ec_call_depth()
        if depth == deepest { DeferredCalls.run() }
        ec_set_call_depth(depth - 1)
    }
}
