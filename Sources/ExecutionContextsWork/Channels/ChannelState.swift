internal import ExecutionContexts

/// The elements, senders and receivers that wait in a channel; the channel guards it.
///
/// - Receivers wait only while there is neither an element nor a sender.
/// - Senders wait only while the channel is full.
/// - A closed channel gets no new sender, and no receiver waits for it.
struct ChannelState<Element: Sendable>: ~Copyable {
    enum Overflow { case wait, dropOldest }

    let capacity: Int
    let overflow: Overflow
    private(set) var isClosed = false
    private var elements = FIFO<Element>()
    private var senders = TaskWaitQueue<ChannelWaiter<Element>> { $0.isAnswered }
    private var receivers = TaskWaitQueue<ChannelWaiter<Element>> { $0.isAnswered }

    init(capacity: Int, overflow: Overflow) {
        self.capacity = capacity
        self.overflow = overflow
    }

    var count: Int { elements.count }
    var senderCount: Int { senders.count }
    var receiverCount: Int { receivers.count }

    // MARK: Sending

    /// What became of an element, or of a request for one; and whom the caller resumes outside the
    /// section.
    enum Outcome {
        case done(TaskWaiter.Resumption?)
        /// The channel is full, or empty.
        case mustWait
        case closed
    }

    /// Takes the element, unless the channel is full or closed. Afterwards it is the one that was
    /// dropped for it, if any, for the caller to free.
    mutating func send(_ element: inout Element?) -> Outcome {
        if isClosed { return .closed }
        if let receiver = receivers.popFirst() {
            receiver.element = element.take()
            return .done(receiver.answer(.success(())))
        }
        if elements.count == capacity {
            guard overflow == .dropOldest else { return .mustWait }
            let oldest = elements.popFirst()
            if let newest = element.take() { elements.append(newest) }
            element = oldest
        } else if let element = element.take() {
            elements.append(element)
        }
        return .done(nil)
    }

    /// Adds a sender that waits; after `send` has found the channel full.
    mutating func append(sender: ChannelWaiter<Element>) { senders.append(sender) }

    /// Removes a sender whose task was cancelled, unless its element was taken; returns the element
    /// for the caller to free.
    mutating func cancel(
        sender: ChannelWaiter<Element>, _ element: inout Element?
    ) -> TaskWaiter.Resumption? {
        if sender.isAnswered { return nil }
        element = sender.element.take()
        let resumption = sender.answer(.failure(CancellationError()))
        senders.noteLeft()
        return resumption
    }

    // MARK: Receiving

    /// Returns the next element in `element`.
    mutating func receive(_ element: inout Element?) -> Outcome {
        element = elements.popFirst()
        guard let sender = senders.popFirst() else {
            return element != nil ? .done(nil) : isClosed ? .closed : .mustWait
        }
        let next = sender.element.take()
        if element == nil { element = next } else if let next { elements.append(next) }
        return .done(sender.answer(.success(())))
    }

    /// Adds a receiver that waits; after `receive` has found nothing.
    mutating func append(receiver: ChannelWaiter<Element>) { receivers.append(receiver) }

    /// Removes a receiver whose task was cancelled, unless it has an element.
    mutating func cancel(receiver: ChannelWaiter<Element>) -> TaskWaiter.Resumption? {
        if receiver.isAnswered { return nil }
        let resumption = receiver.answer(.failure(CancellationError()))
        receivers.noteLeft()
        return resumption
    }

    // MARK: Ending

    /// Ends the channel; returns the receivers to resume. They have got no element.
    mutating func close() -> [TaskWaiter.Resumption] {
        isClosed = true
        return receivers.takeAll().compactMap { $0.answer(.success(())) }
    }

    /// Removes the elements, and those of waiting senders, for the caller to free; returns the
    /// senders to resume, too.
    mutating func dropAll(_ error: any Error) -> ([Element], [TaskWaiter.Resumption]) {
        var dropped = elements.all
        elements = FIFO()
        let waiting = senders.takeAll()
        dropped += waiting.compactMap { $0.element.take() }
        return (dropped, waiting.compactMap { $0.answer(.failure(error)) })
    }
}

/// A task that waits: with its element until there is room, or until it has one.
final class ChannelWaiter<Element: Sendable>: TaskWaiter, @unchecked Sendable {
    // Unchecked like the base: the element is accessed inside the channel's section, or by the task
    // after the answer.
    var element: Element?

    init(_ element: consuming Element?) { self.element = element }
}
