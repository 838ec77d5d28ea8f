public import ExecutionContexts
internal import ExecutionContextsDiagnostics

/// A recorder's knowledge about a job, or about an `Async` that reports to it.
public struct RecordedJob: Identifiable, Hashable, Sendable {
    /// Its latest known state.
    public enum State: String, Sendable {
        /// It was submitted and has not started.
        case waiting
        /// It has started and not ended.
        case running
        /// It has run; an `Async` has completed.
        case finished
        /// Its context dropped it, and it never ran.
        case abandoned
    }

    /// The identity of the job, unique in the process.
    public let id: ObservedWork.Identity
    /// The name of its context, or of the `Async`.
    public let context: String
    /// Whether it is an `Async`, which takes time and occupies no context.
    public let isAsync: Bool
    /// Its latest known state.
    public internal(set) var state: State
    /// When it was submitted; for an `Async`, when `recorded(by:as:)` was called.
    public let enqueued: ContextInstant
    /// When it started, if it has.
    public internal(set) var started: ContextInstant?
    /// When it ended or was abandoned, if it has been.
    public internal(set) var ended: ContextInstant?
    /// The library's own number of the thread that it ran on.
    ///
    /// Until it runs, the number of the thread that submitted it.
    public internal(set) var thread: Int
    /// The job that submitted it, if that job is observed.
    public let submitter: ObservedWork.Identity?
    /// The job that it waited for.
    ///
    /// It is the job that occupied the context when this one was submitted, or else the last
    /// waiting job. Nil if there was none. Also nil if that job had not ended when this one
    /// started: then the two ran in parallel.
    public internal(set) var behind: ObservedWork.Identity?
    /// For an `Async`: the observed job that completed it, and so called its immediate callbacks,
    /// if any.
    public internal(set) var completer: ObservedWork.Identity?

    /// Its source; unknown once the event of its submission has been overwritten.
    let source: JobSource

    /// Its label, or else where it was written, or else "#" and its number.
    ///
    /// An `Async` has the name that `recorded(by:as:)` gave it.
    public var name: String { isAsync ? context : source.name(ofJob: id.job) }

    /// The label that its submission carries: see `ObservedWork.label`.
    public var label: String? { source.shownLabel }

    /// Where it was written, as file and line: see `ObservedWork.sourceLocation`.
    public var sourceLocation: String? { source.place.text }

    /// How long it waited, if it has started or was abandoned.
    public var waited: Duration? { (started ?? ended).map { enqueued.duration(to: $0) } }

    /// How long it ran, if it has ended.
    public var ran: Duration? {
        guard let started, let ended else { return nil }
        return started.duration(to: ended)
    }
}
