/// Subscriptions in the order in which they came, each of which can leave at little cost.
///
/// Not generic over their kind: a generic type's size is looked up at every access.
struct Line {
    /// In the order of their numbers; nil where one has left.
    private var places: [(number: UInt64, element: Subscription?)] = []
    private var nextNumber: UInt64 = 0
    private(set) var count = 0

    var isEmpty: Bool { count == 0 }

    /// Those in the line now.
    var all: [Subscription] { places.compactMap { $0.element } }

    /// Adds one behind all others, and gives it the number by which it leaves.
    mutating func append(_ element: Subscription) -> UInt64 {
        defer { nextNumber += 1 }
        places.append((nextNumber, element))
        count += 1
        return nextNumber
    }

    /// Takes one out; nil if it is not in the line.
    mutating func remove(_ number: UInt64) -> Subscription? {
        var (low, high) = (0, places.count)
        while low < high {
            let middle = (low + high) / 2
            if places[middle].number < number { low = middle + 1 } else { high = middle }
        }
        guard low < places.count, places[low].number == number else { return nil }
        guard let element = places[low].element.take() else { return nil }
        count -= 1
        // So that the empty places cost no more than the others.
        if count < places.count / 2 { places.removeAll { $0.element == nil } }
        return element
    }

    /// Empties the line, and gives those who were in it.
    mutating func removeAll() -> [Subscription] {
        defer {
            places = []
            count = 0
        }
        return all
    }
}
