public import ExecutionContexts

/// Passes elements from any number of senders to any number of receivers, in order, each element to
/// one receiver.
///
/// ```swift
/// let pages = Channel<Int>(capacity: 2)
/// let writer = Task {
///     for page in 1...10 { try await pages.send(page) }
///     pages.close()
/// }
/// for await page in pages { print(page) }
/// try await writer.value
/// ```
///
/// At most `capacity` elements wait in the channel; a sender waits while it is full, and blocks no
/// thread. With capacity 0 a sender waits until a receiver takes its element. Senders and receivers
/// are served in order of arrival (law 36).
///
/// | the channel | `send` | `trySend` | `receive`, iteration | `tryReceive` |
/// |---|---|---|---|---|
/// | open, with room | returns | returns | returns an element, or waits | an element, or nil |
/// | open, full | waits | throws a refusal: full | returns an element | an element |
/// | closed | throws a refusal: shut down | the same | the elements left, then nil | the same |
///
/// A sender that is cancelled while it waits throws `CancellationError`, and its element is not
/// delivered. A receiver that is cancelled while it waits takes no element.
///
/// ``close()`` is for the sending side: sent elements are delivered, also those of waiting senders.
/// ``cancel()`` is for the receiving side: elements not received are dropped.
public final class Channel<Element: Sendable>: Sendable, CustomStringConvertible {
    @usableFromInline let core: ChannelCore

    /// Creates a channel in which at most `capacity` elements wait; traps if that is negative.
    public init(capacity: Int = 0, name: String? = nil) {
        require(
            capacity >= 0,
            "A channel has a capacity of \(capacity) (law 36). Pass 0 or more.")
        core = ChannelCore(capacity, overflow: .wait, name)
    }

    /// Creates a channel in which at most `count` elements wait; a further one replaces the oldest.
    ///
    /// No sender ever waits. Use it for values of which only the latest matter, such as typed text.
    /// Traps if `count` is below 1.
    public init(keepingLatest count: Int, name: String? = nil) {
        require(
            count >= 1,
            "A channel that keeps the latest \(count) elements keeps none (law 36). "
                + "Pass 1 or more.")
        core = ChannelCore(count, overflow: .dropOldest, name)
    }

    // MARK: - Sending

    /// Sends an element, as soon as there is room.
    ///
    /// Throws a `Refusal` if the channel is closed, and `CancellationError` if the task has been
    /// cancelled, or is cancelled while it waits for room. Then the element is not delivered.
    @inlinable
    public nonisolated(nonsending) func send(_ element: Element) async throws {
        guard let sender = try core.send(TypedPayload(element)) else { return }
        try await core.wait(sender: sender)
    }

    /// Sends an element if there is room, else throws a `Refusal`; never waits.
    @inlinable
    public func trySend(_ element: Element) throws(Refusal) {
        try core.trySend(TypedPayload(element))
    }

    // MARK: - Receiving

    /// Returns the next element, as soon as there is one; nil when the channel is closed and empty.
    ///
    /// Throws `CancellationError` if the task is cancelled before that, and takes no element then.
    @inlinable
    public nonisolated(nonsending) func receive() async throws -> Element? {
        switch try core.receive() {
        case .element(let payload): return payload.value(as: Element.self)
        case .end: return nil
        case .mustWait(let receiver):
            guard let payload = try await core.wait(receiver: receiver) else { return nil }
            return payload.value(as: Element.self)
        }
    }

    /// Returns the next element, or nil if there is none now.
    @inlinable
    public func tryReceive() -> Element? {
        guard let payload = core.tryReceive() else { return nil }
        return payload.value(as: Element.self)
    }

    // MARK: - Ending

    /// Ends the channel: no further element is sent. Earlier elements are still delivered.
    ///
    /// Receivers that wait get nil. Closing twice does nothing.
    public func close() { core.close() }

    /// Ends the channel and drops the elements not received; waiting senders throw a `Refusal`.
    public func cancel() { core.cancel() }

    /// Whether the channel was closed or cancelled; elements may be left.
    public var isClosed: Bool { core.withState { $0.isClosed } }

    /// How many elements wait in the channel, not counting those of waiting senders.
    public var count: Int { core.withState { $0.count } }

    /// The name, and how many elements, senders and receivers wait.
    public var description: String { core.description }
}

extension Channel: AsyncSequence {
    public typealias Failure = Never

    /// Creates an iterator. Iterators compete: each element goes to one of them.
    public func makeAsyncIterator() -> Iterator { Iterator(core: core) }

    /// Receives the elements of a channel.
    public struct Iterator: AsyncIteratorProtocol {
        @usableFromInline let core: ChannelCore

        /// Returns the next element; nil when the channel is closed and empty, or if the task is
        /// cancelled.
        ///
        /// Leaving a loop does not end the channel, since it may have other receivers. The last one
        /// must call ``Channel/cancel()``, or the senders wait.
        @inlinable
        public mutating func next(isolation: isolated (any Actor)? = #isolation) async -> Element? {
            do {
                switch try core.receive() {
                case .element(let payload): return payload.value(as: Element.self)
                case .end: return nil
                case .mustWait(let receiver):
                    guard let payload = try await core.wait(receiver: receiver) else { return nil }
                    return payload.value(as: Element.self)
                }
            } catch {
                // Cancelled.
                return nil
            }
        }
    }
}
