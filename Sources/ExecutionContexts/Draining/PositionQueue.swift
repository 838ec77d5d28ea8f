/// Positions in a queue, first in, first out.
struct PositionQueue: ~Copyable {
    private var positions: [Int] = []
    private var start = 0

    var first: Int? { start < positions.count ? positions[start] : nil }

    mutating func append(_ position: Int) { positions.append(position) }

    mutating func removeFirst() {
        start += 1
        if start == positions.count {
            positions.removeAll(keepingCapacity: start <= 64)
            start = 0
        } else if start > 1024, start > positions.count / 2 {
            positions.removeFirst(start)
            start = 0
        }
    }
}
