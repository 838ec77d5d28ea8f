/// A thread that waits to have a serial view to itself, and what was submitted to the view behind it.
///
/// Whoever has the view's role passes it on by waking the first in line, and does nothing with the view from then on.
final class RoleWaiter: @unchecked Sendable {
    // Unchecked: `behind` and `next` are reached under the lock of the view's mailbox only;
    // `isLost` is written before `turn` comes and read after it; `turn` is the waiting thread's
    // while nobody may wake it.
    var behind = WorkQueue()
    fileprivate(set) var next: RoleWaiter?
    private var isLost = false
    private var turn = AwaitedEnd()

    /// Waits for the role; false if the view's base has lost it.
    ///
    /// Where work must be run before, and `base` has to run it, the wait traps if that can never
    /// be.
    func wait(for base: some ExecutionContext, named name: String, needsBase: Bool) -> Bool {
        // With the role, for which others may wait, it goes on at once.
        needsBase ? turn.wait(for: base, named: name, then: .atOnce) : turn.wait(then: .atOnce)
        if isLost { return false }
        // It may have to wait once more. Nobody wakes it before it has said so, under the mailbox's
        // lock.
        turn = AwaitedEnd()
        return true
    }

    func wake() { turn.come() }

    fileprivate func lose() {
        isLost = true
        turn.come()
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

    /// Whether work was submitted behind one of those who wait.
    var hasWorkBehind: Bool {
        var next = first
        while let waiter = next {
            if !waiter.behind.isEmpty { return true }
            next = waiter.next
        }
        return false
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
