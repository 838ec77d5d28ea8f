import ExecutionContexts

/// Work in the order in which it came. Taking the first leaves nothing of it behind (law 10).
struct Line {
    private var incoming: [Work] = []
    /// The front of the line, the first one last, where it is cheap to take.
    private var outgoing: [Work] = []

    var isEmpty: Bool { incoming.isEmpty && outgoing.isEmpty }
    var count: Int { incoming.count + outgoing.count }

    mutating func append(_ work: @escaping Work) { incoming.append(work) }

    mutating func popFirst() -> Work? {
        if outgoing.isEmpty {
            outgoing = incoming.reversed()
            incoming = []
        }
        return outgoing.popLast()
    }
}
