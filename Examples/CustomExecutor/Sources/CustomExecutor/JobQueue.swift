import ExecutionContexts

/// Jobs in the order of submission. It retains no removed job (law 10).
struct JobQueue {
    private var incoming: [Work] = []
    /// The front of the queue in reverse order, so that the first job is cheap to remove.
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
