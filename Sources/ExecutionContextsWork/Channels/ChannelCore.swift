internal import ExecutionContexts

/// The state of a channel behind its section. Tasks are resumed, and elements freed, outside of it
/// (law 9).
///
/// It does not know the type of the elements. A call that need not wait is not async.
@usableFromInline
final class ChannelCore: @unchecked Sendable {
    // Unchecked, also at run time: `state` and waiters are accessed inside `section` only.
    private let name: String
    private let section: CriticalSection
    @exclusivity(unchecked) private var state: ChannelState

    init(_ capacity: Int, overflow: ChannelState.Overflow, _ name: String?) {
        self.name = name ?? "channel"
        section = CriticalSection(name: self.name)
        unsafe state = ChannelState(capacity: capacity, overflow: overflow)
    }

    @inline(__always)
    func withState<Result>(_ body: (inout ChannelState) -> Result) -> Result {
        section.execute { unsafe body(&state) }
    }

    var description: String {
        let (count, senders, receivers) = withState {
            ($0.count, $0.senderCount, $0.receiverCount)
        }
        return "'\(name)', \(count) elements, \(senders) senders and \(receivers) receivers wait"
    }

    // MARK: Sending

    @usableFromInline
    func trySend(_ element: consuming Payload) throws(Refusal) {
        var element = Optional(element)
        switch withState({ $0.send(&element) }) {
        case .done(let receiver): receiver?.perform()
        case .mustWait: throw Refusal(.full(capacity: withState { $0.capacity }), by: name)
        case .closed: throw Refusal(.shutDown, by: name)
        }
    }

    /// Sends an element, or joins the waiting senders: then the caller waits as the result.
    @usableFromInline
    func send(_ element: consuming Payload) throws -> ChannelWaiter? {
        if Task.isCancelled { throw CancellationError() }
        var element = Optional(element)
        var sender: ChannelWaiter?
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
        case .mustWait: break
        case .closed: throw Refusal(.shutDown, by: name)
        }
        return sender
    }

    @usableFromInline
    nonisolated(nonsending) func wait(sender: ChannelWaiter) async throws {
        await sender.wait(inside: section) {
            var element: Payload?
            let resumption = withState { $0.cancel(sender: sender, &element) }
            element = nil
            resumption?.perform()
        }
        if let error = withState({ _ in sender.error }) { throw error }
    }

    // MARK: Receiving

    @usableFromInline
    func tryReceive() -> Payload? {
        var element: Payload?
        if case .done(let sender) = withState({ $0.receive(&element) }) { sender?.perform() }
        return element
    }

    @usableFromInline
    enum Received {
        case element(Payload)
        case end
        case mustWait(ChannelWaiter)
    }

    /// Receives an element, or joins the waiting receivers.
    @usableFromInline
    func receive() throws -> Received {
        if Task.isCancelled { throw CancellationError() }
        var element: Payload?
        var receiver: ChannelWaiter?
        let received = withState { state in
            let received = state.receive(&element)
            if case .mustWait = received {
                let waiter = ChannelWaiter(nil)
                state.append(receiver: waiter)
                receiver = waiter
            }
            return received
        }
        if case .done(let sender) = received { sender?.perform() }
        if let receiver { return .mustWait(receiver) }
        return element.map { .element($0) } ?? .end
    }

    /// Suspends the calling task until there is an element for it; nil if the channel has ended.
    @usableFromInline
    nonisolated(nonsending) func wait(receiver: ChannelWaiter) async throws -> Payload? {
        await receiver.wait(inside: section) {
            withState { $0.cancel(receiver: receiver) }?.perform()
        }
        let (element, error) = withState { _ in (receiver.take(), receiver.error) }
        if let error { throw error }
        return element
    }

    // MARK: Ending

    func close() { for receiver in withState({ $0.close() }) { receiver.perform() } }

    func cancel() {
        let refusal = Refusal(.shutDown, by: name)
        let (receivers, (elements, senders)) = withState { ($0.close(), $0.dropAll(refusal)) }
        withExtendedLifetime(elements) {}
        for receiver in receivers { receiver.perform() }
        for sender in senders { sender.perform() }
    }
}
