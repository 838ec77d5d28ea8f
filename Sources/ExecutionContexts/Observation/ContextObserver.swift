/// Is told what happens to the work of a context: see `observed(by:)`.
///
/// The calls of one piece come in order; those of different pieces come from several threads at a
/// time. They are made without any lock held (law 9), and while they last the work waits: be quick. A piece
/// that its context refuses or loses is enqueued and abandoned, and never started.
public protocol ContextObserver: Sendable {
    /// A piece was submitted; on the submitter.
    func enqueued(_ piece: ObservedWork)

    /// A piece is about to run, on its context.
    func started(_ piece: ObservedWork, waited: Duration)

    /// A piece has run, on its context.
    func finished(_ piece: ObservedWork, waited: Duration, ran: Duration)

    /// A piece will never run: it was refused, dropped or lost; wherever its context let go of it.
    func abandoned(_ piece: ObservedWork, waited: Duration)
}

extension ContextObserver {
    public func enqueued(_ piece: ObservedWork) {}
    public func started(_ piece: ObservedWork, waited: Duration) {}
    public func abandoned(_ piece: ObservedWork, waited: Duration) {}
}

/// One piece of work as an observer sees it.
public struct ObservedWork: Hashable, Sendable, Identifiable {
    /// Unique among the pieces of one view, in the order of submission.
    public let id: UInt64
    /// Which observed view it was submitted to: no two of a process have the same number.
    public let view: UInt64
    /// The name of the context.
    public let context: String
    /// When it was submitted, in the time of its context.
    public let enqueued: Moment
    /// What that time is counted from: moments of pieces with equal origins can be compared.
    public let origin: ObjectIdentifier
    /// The observed piece that submitted it: what ran on the submitting thread, of this or another context.
    public let submitter: Identity?

    /// Tells a piece from every other one of the process.
    public struct Identity: Hashable, Sendable {
        /// The number of the observed view.
        public let view: UInt64
        /// The number of the piece among those of the view.
        public let piece: UInt64
    }

    /// What tells it from every other piece of the process.
    public var identity: Identity { Identity(view: view, piece: id) }
}
