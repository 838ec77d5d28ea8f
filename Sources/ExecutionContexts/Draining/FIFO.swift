/// A first-in, first-out queue.
///
/// Not synchronized: its owner guards it. `popFirst` moves the element out, so the caller owns what
/// the element holds.
struct FIFO<Element>: ~Copyable {
    private var elements: [Element?] = []
    private var start = 0

    var isEmpty: Bool { start == elements.count }

    var count: Int { elements.count - start }

    var first: Element? { isEmpty ? nil : elements[start] }

    mutating func append(_ element: Element) { elements.append(element) }

    mutating func popFirst() -> Element? {
        if isEmpty { return nil }
        let element = elements[start].take()
        start += 1
        if isEmpty {
            elements.removeAll(keepingCapacity: start <= 64)
            start = 0
        } else if start > 32, start > elements.count / 2 {
            // As many as were removed since the last time, so each element is moved once.
            elements.removeFirst(start)
            start = 0
        }
        return element
    }
}
