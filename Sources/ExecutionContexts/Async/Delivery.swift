public import CPlatform

/// How deep callbacks, cancelling and freeing may nest on one thread: beyond that they are put off.
///
/// A callback may complete a promise whose callbacks complete a promise, and so on, a million times. Cancelling runs up a
/// chain in the same way, handlers of `onCancel` cancel what has handlers, and what a callback captured is freed and may
/// be the last reference to the next promise. Nested as it comes all that would overflow the stack, and moving it elsewhere
/// would change the thread (law 25). So a few levels nest, as with `.immediate`, and beyond these one takes its turn after
/// the other.
@usableFromInline
enum Delivery {
    @usableFromInline static let deepest: UInt32 = 32

    /// Tells the parties of `cell`, the first callback first.
    @inline(__always)
    static func tell(by cell: AsyncCell, _ first: consuming Callback.Body? = nil) {
        guard descend() else {
            if let first { cell.putBack(first) }
            return Errands.append(toTell: cell)
        }
        cell.tellAll(consume first)
        ascend()
    }

    /// Cancels `cell`, which nobody wants any more.
    static func cancel(_ cell: AsyncCell) {
        guard descend() else { return Errands.append(toCancel: cell) }
        _ = cell.cancel()
        ascend()
    }

    /// Has `cell`, which has ended and told it, release what it holds until then.
    static func finish(_ cell: AsyncCell) {
        guard descend() else { return Errands.append(toFinish: cell) }
        cell.didEnd()
        ascend()
    }

    /// Calls handlers of the user's, and frees them.
    static func call(_ handlers: consuming [Work]) {
        guard descend() else { return Errands.append(toCall: handlers) }
        for handler in consume handlers { handler() }
        ascend()
    }

    /// Frees something that may refer to anything of the user's; the caller gives it away.
    static func free<Thing>(_ thing: consuming Thing) {
        guard descend() else { return Errands.append(toFree: thing) }
        _ = consume thing
        ascend()
    }

    /// Goes one level deeper, unless that would be too deep.
    @inlinable @inline(__always)
    static func descend() -> Bool {
        let depth = ec_depth()
        guard depth < deepest else { return false }
        ec_set_depth(depth + 1)
        return true
    }

    /// Comes back from there, and does what was put off at the bottom.
    @inlinable @inline(__always)
    static func ascend() {
        let depth = ec_depth()
        if depth == deepest { Errands.run() }
        ec_set_depth(depth - 1)
    }
}
