internal import Dispatch

/// The three ways to wait for a dispatch queue that keeps barriers: beside others, alone, and alone for a while.
///
/// A thread that is inside by one of them is known by a frame, since the queue's key is hidden by a nested `sync`
/// to another queue (law 4).
struct QueueGate: Sendable {
    let queue: DispatchQueue
    let mark: QueueMark

    init(_ queue: DispatchQueue) {
        self.queue = queue
        mark = .of(queue)
    }

    /// Yes on this queue, on queues that target it, and for who holds it; otherwise not known.
    var isCurrent: Bool? { mark.isCurrent == true || mark.holding.isMine ? true : nil }

    /// Whether the caller is known to have the queue to itself.
    var isExclusive: Bool { unsafe mark.holding.isMine || Frame.isCurrent(Frame.owner(mark)) }

    /// Whether the caller is known to read, by `read`, and so not to have the queue to itself.
    var isReading: Bool { unsafe !isExclusive && Frame.isCurrent(reader) }

    /// Stands for those who read: an address that no other owner has.
    private var reader: Frame.Owner { unsafe Frame.owner(mark) + 1 }

    /// Waits for `body` to run beside other work; where the caller is inside, it runs at once.
    func read<Value, Failure: Error>(
        _ body: () throws(Failure) -> Value
    ) throws(Failure) -> Value {
        if isCurrent == true || isExclusive || isReading { return try body() }
        return try queue.sync {
            Result { () throws(Failure) -> Value in try unsafe Frame.enter(reader, body) }
        }.get()
    }

    /// Waits for `body` to run alone; where the caller is alone, it runs at once.
    func exclude<Value, Failure: Error>(
        _ body: () throws(Failure) -> Value
    ) throws(Failure) -> Value {
        if isExclusive { return try body() }
        return try queue.sync(flags: .barrier) {
            Result { () throws(Failure) -> Value in try exclusively(body) }
        }.get()
    }

    /// Waits until the caller has the queue to itself. Needs no thread of the queue while it holds.
    func hold() -> ExclusiveHold {
        if mark.holding.isMine {
            mark.holding.again()
        } else if isExclusive {
            return .nothing
        } else {
            queue.sync(flags: .barrier) { queue.suspend() }
            mark.holding.begin()
        }
        return ExclusiveHold(releasing: { if mark.holding.end() { queue.resume() } })
    }

    /// Marks the thread as inside a barrier, so that a nested one knows that it may run at once.
    func exclusively<Value, Failure: Error>(
        _ body: () throws(Failure) -> Value
    ) throws(Failure) -> Value {
        try unsafe Frame.enter(Frame.owner(mark), body)
    }
}
