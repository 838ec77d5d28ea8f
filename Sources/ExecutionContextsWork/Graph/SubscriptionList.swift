/// Subscriptions in the order of joining, each of which can be removed in amortized logarithmic
/// time.
///
/// Not generic over the element: a generic type's size is looked up at every access.
struct SubscriptionList {
    /// Sorted by number; nil where a subscription was removed.
    private var numbered: [(number: UInt64, element: Subscription?)] = []
    private var nextNumber: UInt64 = 0
    private(set) var count = 0

    var isEmpty: Bool { count == 0 }

    /// The current subscriptions.
    var all: [Subscription] { numbered.compactMap { $0.element } }

    /// The same lazily, with nil where a subscription was removed; for a search that may end early.
    var entries: some Sequence<Subscription?> { numbered.lazy.map { $0.element } }

    /// Appends a subscription, and returns the number with which it is removed.
    mutating func append(_ element: Subscription) -> UInt64 {
        defer { nextNumber += 1 }
        numbered.append((nextNumber, element))
        count += 1
        return nextNumber
    }

    /// Removes a subscription; nil if it is not in the list.
    mutating func remove(_ number: UInt64) -> Subscription? {
        var (low, high) = (0, numbered.count)
        while low < high {
            let middle = (low + high) / 2
            if numbered[middle].number < number { low = middle + 1 } else { high = middle }
        }
        guard low < numbered.count, numbered[low].number == number else { return nil }
        guard let element = numbered[low].element.take() else { return nil }
        count -= 1
        // Compact the list when more than half of it is empty.
        if count < numbered.count / 2 { numbered.removeAll { $0.element == nil } }
        return element
    }

    /// Removes and returns all subscriptions, with nil where one was removed before.
    mutating func removeAll() -> some Sequence<Subscription?> {
        count = 0
        var removed: [(number: UInt64, element: Subscription?)] = []
        swap(&removed, &numbered)
        return removed.lazy.map { $0.element }
    }
}
