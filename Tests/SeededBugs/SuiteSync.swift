/// A count of unfinished operations: `sync.WaitGroup` of Go.
final class WaitGroup: Sendable {
    private let left = Monitor(0, name: "wait group")

    func add(_ count: Int) { left.change { $0 += count } }

    func done() {
        let isLast = left.change { left in
            left -= 1
            return left == 0
        }
        if isLast { left.notifyAll() }
    }

    func wait() throws { try left.wait(until: { $0 == 0 }) { _ in } }
}

/// A lock for readers or a writer, in which a waiting writer holds up new readers: `sync.RWMutex`
/// of Go.
final class RWMutex: Sendable {
    private struct State: Sendable { var (readers, writers, isWriting) = (0, 0, false) }

    private let state = Monitor(State(), name: "read-write mutex")

    func read<Value: Sendable>(_ body: () throws -> Value) throws -> Value {
        try state.wait(until: { $0.writers == 0 }) { $0.readers += 1 }
        defer {
            state.change { $0.readers -= 1 }
            state.notifyAll()
        }
        return try body()
    }

    func write<Value: Sendable>(_ body: () throws -> Value) throws -> Value {
        state.change { $0.writers += 1 }
        try state.wait(until: { $0.readers == 0 && !$0.isWriting }) { $0.isWriting = true }
        defer {
            state.change { ($0.isWriting, $0.writers) = (false, $0.writers - 1) }
            state.notifyAll()
        }
        return try body()
    }
}
