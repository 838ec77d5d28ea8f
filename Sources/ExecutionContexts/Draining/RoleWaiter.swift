/// A thread that waits to have a serial view to itself, and what was submitted to the view behind it.
///
/// Whoever has the view's role passes it on by waking the first in line, and does nothing with the view from then on.
final class RoleWaiter: @unchecked Sendable {
    // Unchecked: `behind` and `next` are reached under the lock of the view's mailbox only; `isLost` is written
    // before the beacon is signalled and read after it.
    var behind = WorkQueue()
    fileprivate var next: RoleWaiter?
    private var isLost = false
    private let turn = Beacon()

    /// Waits for the role; false if the view's base has lost it.
    func wait() -> Bool {
        turn.wait()
        return !isLost
    }

    func wake() { turn.signal() }

    fileprivate func lose() {
        isLost = true
        turn.signal()
    }
}

/// Those who wait for one view, in order.
struct RoleLine: ~Copyable {
    private(set) var first: RoleWaiter?
    private(set) var last: RoleWaiter?

    mutating func append(_ waiter: RoleWaiter) {
        if let last { last.next = waiter } else { first = waiter }
        last = waiter
    }

    mutating func removeFirst() {
        first = first?.next.take()
        if first == nil { last = nil }
    }

    /// Moves everybody out, to be lost outside the lock.
    mutating func takeAll() -> RoleLine {
        var taken = RoleLine()
        swap(&self, &taken)
        return taken
    }

    consuming func lose() {
        while let waiter = first {
            removeFirst()
            waiter.behind = WorkQueue()
            waiter.lose()
        }
    }
}
