/// Is told what happens to the work of a context: see `observed(by:)`.
///
/// The three calls of one piece come in order; those of different pieces come from several threads at a
/// time. They are made without any lock held (law 9), and while they last the work waits: be quick. A piece
/// that its context refuses or abandons is enqueued and never started.
public protocol ContextObserver: Sendable {
    /// A piece was submitted; on the submitter.
    func enqueued(_ piece: ObservedWork)

    /// A piece is about to run, on its context.
    func started(_ piece: ObservedWork, waited: Duration)

    /// A piece has run, on its context.
    func finished(_ piece: ObservedWork, waited: Duration, ran: Duration)
}

extension ContextObserver {
    public func enqueued(_ piece: ObservedWork) {}
    public func started(_ piece: ObservedWork, waited: Duration) {}
}

/// One piece of work as an observer sees it.
public struct ObservedWork: Hashable, Sendable, Identifiable {
    /// Unique among the pieces of one view, in the order of submission.
    public let id: UInt64
    /// The name of the context.
    public let context: String
    /// When it was submitted, in the time of its context.
    public let enqueued: Moment
}
