/// Why a job did not run and never will (law 1).
public struct Refusal: Error, Hashable, Sendable, CustomStringConvertible {
    /// What became of the job.
    public enum Reason: Hashable, Sendable {
        /// There was no room: this many jobs were queued.
        case full(capacity: Int)
        /// It was accepted, and then dropped for newer work.
        case droppedForNewer
        /// The token of its context had been invalidated.
        case invalidated
        /// The context dropped the closure without running it.
        case abandoned
        /// Its context had been shut down.
        case shutDown
        /// The deadline of its submitter had passed before it began.
        case deadlinePassed
    }

    /// What became of the job.
    public var reason: Reason
    /// The name of the context that refused or dropped the job.
    public var context: String
    /// The source location of the submission, if it is known.
    public var sourceLocation: String?

    /// Makes a refusal, for a context of your own that refuses work.
    public init(_ reason: Reason, by context: String, sourceLocation: String? = nil) {
        self.reason = reason
        self.context = context
        self.sourceLocation = sourceLocation
    }

    public var description: String {
        let work = sourceLocation.map { "Work submitted at \($0)" } ?? "Work"
        return switch reason {
        case .full(let capacity):
            "\(work) was refused by '\(context)', where \(capacity) jobs are queued already (law 1). "
                + "Submit less, or choose another overflow policy."
        case .droppedForNewer:
            "\(work) was dropped by '\(context)' to make room for newer work (law 1)."
        case .invalidated:
            "\(work) did not run on '\(context)' because its token was invalidated (law 1)."
        case .shutDown:
            "\(work) was refused by '\(context)', which has been shut down (law 1). "
                + "Submit before the shutdown, or to a context that lives as long as its users."
        case .deadlinePassed:
            "\(work) was refused by '\(context)', since its deadline passed before it began (law 38)."
        case .abandoned:
            "\(work) was abandoned: '\(context)' discarded it without running it (law 1). "
                + "A context must run what execute gives it; a manual context discards what is pending when its test "
                + "finishes it or releases it."
        }
    }
}
