internal import ExecutionContexts

/// The state of a channel behind its section. Tasks are resumed, and elements freed, outside of it
/// (law 9).
final class ChannelCore<Element: Sendable>: @unchecked Sendable {
    // Unchecked, also at run time: `state`, waiters and senders are accessed inside `section` only.
    private let name: String
    private let section: CriticalSection
    @exclusivity(unchecked) private var state: ChannelState<Element>

    init(_ capacity: Int, overflow: ChannelState<Element>.Overflow, _ name: String?) {
        self.name = name ?? "channel"
        section = CriticalSection(name: self.name)
        unsafe state = ChannelState(capacity: capacity, overflow: overflow)
    }

    @inline(__always)
    func withState<Result>(_ body: (inout ChannelState<Element>) -> Result) -> Result {
        section.execute { unsafe body(&state) }
    }

    var description: String {
        let (count, senders, receivers) = withState {
            ($0.count, $0.senderCount, $0.receiverCount)
        }
        return "'\(name)', \(count) elements, \(senders) senders and \(receivers) receivers wait"
    }

    func trySend(_ element: consuming Element) throws(Refusal) {
        var element = Optional(element)
        switch withState({ $0.send(&element) }) {
        case .done(let receiver): receiver?.perform()
        case .mustWait: throw Refusal(.full(capacity: withState { $0.capacity }), by: name)
        case .closed: throw Refusal(.shutDown, by: name)
        }
    }

    nonisolated(nonsending) func send(_ element: consuming Element) async throws {
        var element = Optional(element)
        var sender: ChannelWaiter<Element>?
        let sent = withState { state in
            let sent = state.send(&element)
            if case .mustWait = sent {
                let waiter = ChannelWaiter(element.take())
                state.append(sender: waiter)
                sender = waiter
            }
            return sent
        }
        switch sent {
        case .done(let receiver): receiver?.perform()
        case .mustWait: if let sender { try await wait(sender: sender) }
        case .closed: throw Refusal(.shutDown, by: name)
        }
    }

    private nonisolated(nonsending) func wait(
        sender: ChannelWaiter<Element>
    ) async throws {
        try await sender.wait(inside: section) {
            var element: Element?
            let resumption = withState { $0.cancel(sender: sender, &element) }
            element = nil
            resumption?.perform()
        }
    }

    func tryReceive() -> Element? {
        var element: Element?
        if case .done(let sender) = withState({ $0.receive(&element) }) { sender?.perform() }
        return element
    }

    nonisolated(nonsending) func receive() async throws -> Element? {
        var element: Element?
        var receiver: ChannelWaiter<Element>?
        let received = withState { state in
            let received = state.receive(&element)
            if case .mustWait = received {
                let waiter = ChannelWaiter<Element>(nil)
                state.append(receiver: waiter)
                receiver = waiter
            }
            return received
        }
        if case .done(let sender) = received { sender?.perform() }
        guard let receiver else { return element }
        try await receiver.wait(inside: section) {
            withState { $0.cancel(receiver: receiver) }?.perform()
        }
        return receiver.element.take()
    }

    func close() { for receiver in withState({ $0.close() }) { receiver.perform() } }

    func cancel() {
        let refusal = Refusal(.shutDown, by: name)
        let (receivers, (elements, senders)) = withState { ($0.close(), $0.dropAll(refusal)) }
        withExtendedLifetime(elements) {}
        for receiver in receivers { receiver.perform() }
        for sender in senders { sender.perform() }
    }
}
