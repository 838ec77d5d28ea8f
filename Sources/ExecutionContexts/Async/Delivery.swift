public import CPlatform

/// How deep telling may nest on one thread: beyond that it is put off until the innermost callback has ended.
///
/// A callback may complete a promise whose callbacks complete a promise, and so on, a million times; and cancelling runs
/// up a chain in the same way. Nested as it comes that would overflow the stack, and moving it elsewhere would change
/// the thread (law 25). So a few levels nest, as with `.immediate`, and beyond these one takes its turn after the other.
@usableFromInline
enum Delivery {
    @usableFromInline static let deepest: UInt32 = 32

    /// Tells the parties of `cell`, the first callback first.
    @inline(__always)
    static func tell(by cell: AsyncCell, _ first: Callback.Body? = nil) {
        guard descend() else {
            if let first { cell.putBack(first) }
            return Errands.append(toTell: cell)
        }
        cell.tellAll(first)
        ascend()
    }

    /// Cancels `cell`, which nobody wants any more.
    static func cancel(_ cell: AsyncCell) {
        guard descend() else { return Errands.append(toCancel: cell) }
        _ = cell.cancel()
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
