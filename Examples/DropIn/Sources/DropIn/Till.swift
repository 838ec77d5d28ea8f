/// Sells tickets, from any thread.
final class Till: Sendable {
    private let left: Mutex<Int>

    init(tickets: Int) { left = Mutex(tickets) }

    /// Sells a ticket; false if none is left.
    func sell() -> Bool {
        left.withLock { left in
            if left == 0 { return false }
            left -= 1
            return true
        }
    }

    /// The same in two sections: another thread may sell the last ticket between them.
    func sellCarelessly() -> Bool {
        if left.withLock({ $0 }) == 0 { return false }
        left.withLock { $0 -= 1 }
        return true
    }
}
