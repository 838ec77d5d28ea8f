/// A first-in, first-out queue.
///
/// Not synchronized: its owner guards it. `popFirst` moves the element out, so the caller owns what
/// the element holds. For jobs there is `WorkQueue`, which needs half of the memory.
@frozen @usableFromInline
package struct FIFO<Element>: ~Copyable {
    @usableFromInline var elements: [Element?] = []
    @usableFromInline var start = 0

    @inlinable
    package init() {}

    @inlinable package var isEmpty: Bool { start == elements.count }

    @inlinable package var count: Int { elements.count - start }

    @inlinable package var first: Element? { isEmpty ? nil : elements[start] }

    /// The elements, in order.
    @inlinable package var all: [Element] { elements[start...].compactMap { $0 } }

    @inlinable
    package mutating func append(_ element: Element) { elements.append(element) }

    @inlinable
    package mutating func popFirst() -> Element? {
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
