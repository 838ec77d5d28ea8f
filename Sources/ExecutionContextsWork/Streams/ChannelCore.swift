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

    func trySend(_ element: Element) throws(Refusal) {
        let sent = withState { ($0.send(element), $0.capacity) }
        switch sent.0 {
        case .received(let receiver): receiver?.perform()
        case .queued: break
        case .full: throw Refusal(.full(capacity: sent.1), by: name)
        case .closed: throw Refusal(.shutDown, by: name)
        }
    }

    nonisolated(nonsending) func send(_ element: Element) async throws {
        let (sent, sender) = withState { state -> (ChannelState<Element>.Sent, _) in
            let sent = state.send(element)
            guard case .full = sent else { return (sent, ChannelSender<Element>?.none) }
            let sender = ChannelSender(element)
            state.append(sender)
            return (sent, sender)
        }
        switch sent {
        case .received(let receiver): receiver?.perform()
        case .queued: break
        case .closed: throw Refusal(.shutDown, by: name)
        case .full: try await wait(as: sender!)
        }
    }

    private nonisolated(nonsending) func wait(as sender: ChannelSender<Element>) async throws {
        try await sender.waiter.answer(inside: section) {
            let (element, resumption) = self.withState { $0.cancel(sender) }
            withExtendedLifetime(element) {}
            resumption?.perform()
        }
    }

    func tryReceive() -> Element? {
        guard case .element(let element, let sender) = withState({ $0.receive() }) else {
            return nil
        }
        sender?.perform()
        return element
    }

    nonisolated(nonsending) func receive() async throws -> Element? {
        let (received, waiter) = withState { state -> (ChannelState<Element>.Received, _) in
            let received = state.receive()
            guard case .nothing = received else {
                return (received, ChannelState<Element>.Receiver?.none)
            }
            let waiter = ChannelState<Element>.Receiver()
            state.append(waiter)
            return (received, waiter)
        }
        switch received {
        case .element(let element, let sender):
            sender?.perform()
            return element
        case .closed: return nil
        case .nothing:
            let waiter = waiter!
            return try await waiter.answer(inside: section) {
                self.withState { $0.cancel(waiter) }?.perform()
            }
        }
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
