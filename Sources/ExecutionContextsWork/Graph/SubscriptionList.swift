/// Subscriptions in the order of joining, each of which can be removed in amortized logarithmic
/// time.
///
/// Not generic over the element: a generic type's size is looked up at every access. Most lists
/// have one subscription at most, so the oldest one needs no array.
struct SubscriptionList {
    private typealias Numbered = (number: UInt64, element: Subscription?)

    /// The oldest one, if it was added to an empty list; nil from its removal on.
    private var oldest: Numbered = (0, nil)
    /// The later ones, sorted by number; nil where a subscription was removed.
    private var later: [Numbered] = []
    private var nextNumber: UInt64 = 0
    private(set) var count = 0

    var isEmpty: Bool { count == 0 }

    /// The current subscriptions.
    var all: [Subscription] { entries.compactMap { $0 } }

    /// The same lazily, with nil where a subscription was removed; for a search that may end early.
    var entries: Entries { Entries(oldest: oldest.element, later: later) }

    struct Entries: Sequence, IteratorProtocol {
        fileprivate var oldest: Subscription?
        fileprivate let later: [(number: UInt64, element: Subscription?)]
        private var index = 0

        fileprivate init(
            oldest: Subscription?, later: [(number: UInt64, element: Subscription?)]
        ) {
            (self.oldest, self.later) = (oldest, later)
        }

        mutating func next() -> Subscription?? {
            if let first = oldest.take() { return .some(first) }
            guard index < later.count else { return nil }
            index += 1
            return .some(later[index - 1].element)
        }
    }

    /// Appends a subscription, and returns the number with which it is removed.
    mutating func append(_ element: Subscription) -> UInt64 {
        defer { nextNumber += 1 }
        if count == 0 {
            // Only removed subscriptions are left in the array.
            if !later.isEmpty { later = [] }
            oldest = (nextNumber, element)
        } else {
            later.append((nextNumber, element))
        }
        count += 1
        return nextNumber
    }

    /// Removes a subscription; nil if it is not in the list.
    mutating func remove(_ number: UInt64) -> Subscription? {
        if number == oldest.number, let element = oldest.element.take() {
            count -= 1
            return element
        }
        var (low, high) = (0, later.count)
        while low < high {
            let middle = (low + high) / 2
            if later[middle].number < number { low = middle + 1 } else { high = middle }
        }
        guard low < later.count, later[low].number == number else { return nil }
        guard let element = later[low].element.take() else { return nil }
        count -= 1
        // Compact the array when more than half of it is empty.
        if count < later.count / 2 { later.removeAll { $0.element == nil } }
        return element
    }

    /// Removes and returns all subscriptions, with nil where one was removed before.
    mutating func removeAll() -> Entries {
        count = 0
        var removed: [Numbered] = []
        swap(&removed, &later)
        return Entries(oldest: oldest.element.take(), later: removed)
    }
}
