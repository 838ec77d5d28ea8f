internal import ExecutionContexts

/// The elements, senders and receivers that wait in a channel; the channel guards it.
///
/// - Receivers wait only while there is neither an element nor a sender.
/// - Senders wait only while the channel is full.
/// - A closed channel gets no new sender, and no receiver waits for it.
struct ChannelState<Element: Sendable>: ~Copyable {
    enum Overflow { case wait, dropOldest }

    typealias Receiver = TaskWaiter<Element?>

    let capacity: Int
    let overflow: Overflow
    private(set) var isClosed = false
    private var elements = FIFO<Element>()
    private var senders = TaskWaitQueue<ChannelSender<Element>> { $0.waiter.isAnswered }
    private var receivers = TaskWaitQueue<Receiver> { $0.isAnswered }

    init(capacity: Int, overflow: Overflow) {
        self.capacity = capacity
        self.overflow = overflow
    }

    var count: Int { elements.count }
    var senderCount: Int { senders.count }
    var receiverCount: Int { receivers.count }

    // MARK: Sending

    /// What became of an element, and what the caller does outside the section.
    enum Sent {
        /// A receiver got it.
        case received(Receiver.Resumption?)
        /// It waits in the channel; it may have replaced an element, which the caller frees.
        case queued(replaced: Element?)
        case full
        case closed
    }

    mutating func send(_ element: Element) -> Sent {
        if isClosed { return .closed }
        if let receiver = receivers.popFirst() {
            return .received(receiver.answer(.success(element)))
        }
        if elements.count < capacity {
            elements.append(element)
            return .queued(replaced: nil)
        }
        guard overflow == .dropOldest else { return .full }
        let oldest = elements.popFirst()
        elements.append(element)
        return .queued(replaced: oldest)
    }

    /// Adds a sender that waits; after `send` has found the channel full.
    mutating func append(_ sender: ChannelSender<Element>) { senders.append(sender) }

    /// Removes a sender whose task was cancelled, unless its element was taken; returns the element
    /// for the caller to free.
    mutating func cancel(
        _ sender: ChannelSender<Element>
    ) -> (Element?, TaskWaiter<Void>.Resumption?) {
        if sender.waiter.isAnswered { return (nil, nil) }
        let resumption = sender.waiter.answer(.failure(CancellationError()))
        senders.noteLeft()
        return (sender.element.take(), resumption)
    }

    // MARK: Receiving

    /// What a receiver gets, and which sender goes on because of it.
    enum Received {
        case element(Element, TaskWaiter<Void>.Resumption?)
        case nothing
        case closed
    }

    mutating func receive() -> Received {
        if let element = elements.popFirst() {
            guard let sender = senders.popFirst() else { return .element(element, nil) }
            if let next = sender.element.take() { elements.append(next) }
            return .element(element, sender.waiter.answer(.success(())))
        }
        if let sender = senders.popFirst(), let element = sender.element.take() {
            return .element(element, sender.waiter.answer(.success(())))
        }
        return isClosed ? .closed : .nothing
    }

    /// Adds a receiver that waits; after `receive` has found nothing.
    mutating func append(_ receiver: Receiver) { receivers.append(receiver) }

    /// Removes a receiver whose task was cancelled, unless it has an element.
    mutating func cancel(_ receiver: Receiver) -> Receiver.Resumption? {
        if receiver.isAnswered { return nil }
        defer { receivers.noteLeft() }
        return receiver.answer(.failure(CancellationError()))
    }

    // MARK: Ending

    /// Ends the channel; returns the receivers to resume.
    mutating func close() -> [Receiver.Resumption] {
        isClosed = true
        return receivers.takeAll().compactMap { $0.answer(.success(nil)) }
    }

    /// Removes the elements, and those of waiting senders, for the caller to free; returns the
    /// senders to resume, too.
    mutating func dropAll(
        _ error: any Error
    ) -> ([Element], [TaskWaiter<Void>.Resumption]) {
        var dropped = elements.all
        elements = FIFO()
        let waiting = senders.takeAll()
        dropped += waiting.compactMap { $0.element.take() }
        return (dropped, waiting.compactMap { $0.waiter.answer(.failure(error)) })
    }
}

/// A task that waits with its element until there is room.
final class ChannelSender<Element: Sendable>: @unchecked Sendable {
    // Unchecked: the element is accessed inside the channel's section only.
    let waiter = TaskWaiter<Void>()
    var element: Element?

    init(_ element: Element) { self.element = element }
}
