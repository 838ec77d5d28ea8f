/// A thread that waits for the drain ownership of a serial view, and the jobs submitted after it.
///
/// The drain owner passes the ownership on by waking the first waiter, and does not touch the view
/// after that.
final class DrainWaiter: @unchecked Sendable {
    // Unchecked: `behind` and `next` are accessed under the lock of the view's mailbox only.
    // `isDropped` is written before `grant` completes and read after it. Only the waiting thread
    // replaces `grant`, at a time when no thread may wake it.
    var behind = WorkQueue()
    fileprivate(set) var next: DrainWaiter?
    private var isDropped = false
    private var grant = AwaitedEnd()

    /// Waits for the drain ownership; false if the view's base has dropped its drain.
    ///
    /// If `base` has to run jobs before that, the wait traps if it can never end.
    func wait(for base: some ExecutionContext, named name: String, needsBase: Bool) -> Bool {
        // `.atOnce`: other threads may wait for the ownership that this thread has then.
        needsBase ? grant.wait(for: base, named: name, then: .atOnce) : grant.wait(then: .atOnce)
        if isDropped { return false }
        // The waiter may have to wait once more. No thread wakes it before it has said so, under
        // the mailbox's lock.
        grant = AwaitedEnd()
        return true
    }

    func wake() { grant.complete() }

    fileprivate func drop() {
        isDropped = true
        grant.complete()
    }
}

/// The waiters of one view, in order. Linked, so that adding one allocates nothing under the lock.
struct DrainWaiters: ~Copyable {
    private(set) var first: DrainWaiter?
    private(set) var last: DrainWaiter?

    mutating func append(_ waiter: DrainWaiter) {
        if let last { last.next = waiter } else { first = waiter }
        last = waiter
    }

    /// Whether jobs were submitted after one of the waiters.
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

    /// Moves all waiters out, to be dropped outside the lock.
    mutating func takeAll() -> DrainWaiters {
        var taken = DrainWaiters()
        swap(&self, &taken)
        return taken
    }

    consuming func drop() {
        while let waiter = first {
            removeFirst()
            waiter.behind = WorkQueue()
            waiter.drop()
        }
    }
}
