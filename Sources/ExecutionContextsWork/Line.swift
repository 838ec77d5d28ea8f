/// Subscriptions in the order in which they came, each of which can leave at little cost.
///
/// Not generic over their kind: a generic type's size is looked up at every access.
struct Line {
    /// In the order of their numbers; nil where one has left.
    private var numbered: [(number: UInt64, element: Subscription?)] = []
    private var nextNumber: UInt64 = 0
    private(set) var count = 0

    var isEmpty: Bool { count == 0 }

    /// Those in the line now.
    var all: [Subscription] { numbered.compactMap { $0.element } }

    /// The same one by one, with nil where one has left; for a search that may end early.
    var places: some Sequence<Subscription?> { numbered.lazy.map { $0.element } }

    /// Adds one behind all others, and gives it the number by which it leaves.
    mutating func append(_ element: Subscription) -> UInt64 {
        defer { nextNumber += 1 }
        numbered.append((nextNumber, element))
        count += 1
        return nextNumber
    }

    /// Takes one out; nil if it is not in the line.
    mutating func remove(_ number: UInt64) -> Subscription? {
        var (low, high) = (0, numbered.count)
        while low < high {
            let middle = (low + high) / 2
            if numbered[middle].number < number { low = middle + 1 } else { high = middle }
        }
        guard low < numbered.count, numbered[low].number == number else { return nil }
        guard let element = numbered[low].element.take() else { return nil }
        count -= 1
        // So that the empty places cost no more than the others.
        if count < numbered.count / 2 { numbered.removeAll { $0.element == nil } }
        return element
    }

    /// Empties the line, and gives those who were in it.
    mutating func removeAll() -> [Subscription] {
        defer {
            numbered = []
            count = 0
        }
        return all
    }
}
