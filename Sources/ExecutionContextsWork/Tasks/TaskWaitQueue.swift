internal import ExecutionContexts

/// Tasks that wait, in the order of arrival; the owner guards it.
///
/// A waiter that a cancellation has answered stays until it is the first, or until such waiters are
/// half of the queue. So each step takes constant time on average, and the queue has at most twice
/// as many elements as waiting tasks.
struct TaskWaitQueue<Waiter: TaskWaiter>: ~Copyable {
    private var waiters = FIFO<Waiter>()
    private let hasLeft: (Waiter) -> Bool
    /// How many waiters have not left.
    private(set) var count = 0

    init(hasLeft: @escaping (Waiter) -> Bool) { self.hasLeft = hasLeft }

    var isEmpty: Bool { count == 0 }

    mutating func append(_ waiter: Waiter) {
        waiters.append(waiter)
        count += 1
    }

    /// The first waiter to arrive.
    var first: Waiter? {
        mutating get {
            while let first = waiters.first, hasLeft(first) { _ = waiters.popFirst() }
            return waiters.first
        }
    }

    /// Removes the first waiter.
    mutating func popFirst() -> Waiter? {
        guard first != nil else { return nil }
        count -= 1
        return waiters.popFirst()
    }

    /// Records that a waiter of the queue has left.
    mutating func noteLeft() {
        count -= 1
        guard waiters.count > 2 * count + 16 else { return }
        var rest = FIFO<Waiter>()
        for waiter in waiters.all where !hasLeft(waiter) { rest.append(waiter) }
        waiters = rest
    }

    /// Removes all waiters.
    mutating func takeAll() -> [Waiter] {
        let all = waiters.all.filter { !hasLeft($0) }
        waiters = FIFO()
        count = 0
        return all
    }
}
