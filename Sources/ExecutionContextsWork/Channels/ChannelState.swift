internal import ExecutionContexts

/// The elements, senders and receivers that wait in a channel; the channel guards it.
///
/// - Receivers wait only while there is neither an element nor a sender.
/// - Senders wait only while the channel is full.
/// - A closed channel gets no new sender, and no receiver waits for it.
struct ChannelState: ~Copyable {
    enum Overflow { case wait, dropOldest }

    let capacity: Int
    let overflow: Overflow
    private(set) var isClosed = false
    private var elements = FIFO<Payload>()
    private var senders = TaskWaitQueue<ChannelWaiter> { $0.isAnswered }
    private var receivers = TaskWaitQueue<ChannelWaiter> { $0.isAnswered }

    init(capacity: Int, overflow: Overflow) {
        self.capacity = capacity
        self.overflow = overflow
    }

    var count: Int { elements.count }
    var senderCount: Int { senders.count }
    var receiverCount: Int { receivers.count }

    // MARK: Sending

    /// The outcome of sending or requesting an element, and the task that the caller resumes
    /// outside the section.
    enum Outcome {
        case done(TaskWaiter.Resumption?)
        /// The channel is full, or empty.
        case mustWait
        case closed
    }

    /// Takes the element, unless the channel is full or closed. Afterwards `element` is the one it
    /// replaced, if any, for the caller to free.
    mutating func send(_ element: inout Payload?) -> Outcome {
        if isClosed { return .closed }
        if let receiver = receivers.popFirst() {
            receiver.put(element.take())
            return .done(receiver.answer())
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
    mutating func append(sender: ChannelWaiter) { senders.append(sender) }

    /// Removes a sender whose task was cancelled, unless its element was taken; returns the element
    /// for the caller to free.
    mutating func cancel(
        sender: ChannelWaiter, _ element: inout Payload?
    ) -> TaskWaiter.Resumption? {
        if sender.isAnswered { return nil }
        element = sender.take()
        let resumption = sender.answer(CancellationError())
        senders.noteLeft()
        return resumption
    }

    // MARK: Receiving

    /// Returns the next element in `element`.
    mutating func receive(_ element: inout Payload?) -> Outcome {
        element = elements.popFirst()
        guard let sender = senders.popFirst() else {
            return element != nil ? .done(nil) : isClosed ? .closed : .mustWait
        }
        let next = sender.take()
        if element == nil { element = next } else if let next { elements.append(next) }
        return .done(sender.answer())
    }

    /// Adds a receiver that waits; after `receive` has found nothing.
    mutating func append(receiver: ChannelWaiter) { receivers.append(receiver) }

    /// Removes a receiver whose task was cancelled, unless it has an element.
    mutating func cancel(receiver: ChannelWaiter) -> TaskWaiter.Resumption? {
        if receiver.isAnswered { return nil }
        let resumption = receiver.answer(CancellationError())
        receivers.noteLeft()
        return resumption
    }

    // MARK: Ending

    /// Ends the channel; returns the receivers to resume. They have no element.
    mutating func close() -> [TaskWaiter.Resumption] {
        isClosed = true
        return receivers.takeAll().compactMap { $0.answer() }
    }

    /// Removes the elements, and those of waiting senders, for the caller to free; returns the
    /// senders to resume, too.
    mutating func dropAll(_ error: any Error) -> ([Payload], [TaskWaiter.Resumption]) {
        var dropped = elements.all
        elements = FIFO()
        let waiting = senders.takeAll()
        dropped += waiting.compactMap { $0.take() }
        return (dropped, waiting.compactMap { $0.answer(error) })
    }
}

/// A waiting task: a sender with its element until there is room, or a receiver until it has one.
@usableFromInline
final class ChannelWaiter: TaskWaiter, @unchecked Sendable {
    // Unchecked, also at run time, like the base: the element is accessed inside the section only.
    // Removed elements are moved out, and freed outside of the section.
    @exclusivity(unchecked) private var content: Payload?

    init(_ element: consuming Payload?) { unsafe content = element }

    func put(_ element: consuming Payload?) { unsafe content = element }

    func take() -> Payload? { unsafe content.take() }
}
