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
            return unsafe Errands.mine.toTell.append(cell)
        }
        cell.tellAll(first)
        ascend()
    }

    /// Cancels `cell`, which nobody wants any more.
    static func cancel(_ cell: AsyncCell) {
        guard descend() else { return unsafe Errands.mine.toCancel.append(cell) }
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

/// What one thread has put off, in order.
@usableFromInline
final class Errands {
    @exclusivity(unchecked) fileprivate var toTell = ErrandLine()
    @exclusivity(unchecked) fileprivate var toCancel: [AsyncCell] = []

    /// Those of the calling thread; its word owns them until they have been run.
    fileprivate static var mine: Errands {
        if let errands = current { return errands }
        let errands = Errands()
        unsafe ec_set_errands(Unmanaged.passRetained(errands).toOpaque())
        return errands
    }

    private static var current: Errands? {
        guard let errands = unsafe ec_errands() else { return nil }
        return unsafe Unmanaged<Errands>.fromOpaque(errands).takeUnretainedValue()
    }

    /// Runs those of the calling thread until nothing new has come.
    @usableFromInline
    static func run() {
        // Looked up again each time: one who waits inside an errand runs all of them, and new ones may come after that.
        while let errands = current {
            while true {
                if let cell = unsafe errands.toTell.removeFirst() {
                    cell.tellAll(nil)
                } else if let cell = unsafe errands.toCancel.popLast() {
                    _ = cell.cancel()
                } else {
                    break
                }
            }
            guard current === errands else { continue }
            ec_set_errands(nil)
            unsafe Unmanaged.passUnretained(errands).release()
        }
    }
}
