import ExecutionContexts

/// A channel of Go, for threads and tasks.
///
/// A send completes when the buffer or a receiver has the element. A receive completes when an
/// element is there or the channel is closed. A send on a closed channel is an error, and so is a
/// second close. Operations that complete one `Selection` are the cases of a `select`: one of them
/// takes effect. Channels in one `select` share a lock.
final class Channel<Element: Sendable>: Sendable {
    enum Event: Sendable {
        case sent, received(Element), closed

        var element: Element? { if case .received(let element) = self { element } else { nil } }
    }

    typealias Selection = Promise<Event>

    private struct State: Sendable {
        var buffer: [Element] = []
        var senders: [(element: Element, selection: Selection)] = []
        var receivers: [Selection] = []
        var isClosed = false

        /// Whether a receiver takes the element whose `select` has not taken another case.
        mutating func passes(_ element: Element) -> Bool {
            while !receivers.isEmpty {
                if receivers.removeFirst().succeed(.received(element)) { return true }
            }
            return false
        }

        /// The next sender whose `select` has not taken another case.
        mutating func nextSent() -> Element? {
            while !senders.isEmpty {
                let first = senders.removeFirst()
                if first.selection.succeed(.sent) { return first.element }
            }
            return nil
        }
    }

    private let capacity: Int
    private let state: LockedResource<State>

    init(capacity: Int = 0, lock: CriticalSection = CriticalSection(name: "channel")) {
        self.capacity = capacity
        state = LockedResource(State(), lockedBy: .section(lock))
    }

    @discardableResult
    func send(_ element: Element, in selection: Selection = Selection()) -> Async<Event> {
        state.mutate { state in
            if state.isClosed {
                selection.fail(Wrong(description: "an element is sent on a closed channel"))
            } else if selection.async.isCompleted {
                // Another case of the `select` has taken effect.
            } else if state.passes(element) {
                selection.succeed(.sent)
            } else if state.buffer.count < capacity {
                state.buffer.append(element)
                selection.succeed(.sent)
            } else {
                state.senders.append((element, selection))
            }
            return selection.async
        }
    }

    @discardableResult
    func receive(in selection: Selection = Selection()) -> Async<Event> {
        state.mutate { state in
            if let first = state.buffer.first {
                if selection.succeed(.received(first)) {
                    state.buffer.removeFirst()
                    if let next = state.nextSent() { state.buffer.append(next) }
                }
            } else if !selection.async.isCompleted, let sent = state.nextSent() {
                selection.succeed(.received(sent))
            } else if state.isClosed {
                selection.succeed(.closed)
            } else {
                state.receivers.append(selection)
            }
            return selection.async
        }
    }

    func close() throws {
        try state.mutate { state in
            try require(!state.isClosed, "a channel is closed twice")
            state.isClosed = true
            for receiver in state.receivers { receiver.succeed(.closed) }
            state.receivers = []
        }
    }
}
