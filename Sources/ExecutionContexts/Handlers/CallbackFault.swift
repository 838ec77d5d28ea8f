internal import Foundation

/// What went wrong with a completion handler that `callback` or `fromCallback` made.
///
/// The mistake is seldom in the code that made it: a function called back twice or never, or a context lost
/// its work. So it is reported, and stops nothing.
public struct CallbackFault: Error, Hashable, Sendable, CustomStringConvertible {
    /// What became of the call.
    public enum Reason: Hashable, Sendable {
        /// It was called once more. Only the first call counts.
        case calledAgain
        /// It was let go of and never called. Its handler will not run.
        case neverCalled
        /// It was called, and its context refused the handler or let go of it. The handler did not run.
        case refused(Refusal.Reason)
    }

    /// What became of the call.
    public let reason: Reason
    /// The name of the context that the handler was to run on; nil for one that completes an `Async`.
    public let context: String?
    /// Where the handler was made, as file and line.
    public let origin: String

    init(_ reason: Reason, context: String?, origin: String) {
        self.reason = reason
        self.context = context
        self.origin = origin
    }

    public var description: String {
        switch reason {
        case .calledAgain:
            "\(subject) was called again, which did nothing: the first call counts (law 24). Whatever it was given to "
                + "must call it once."
        case .neverCalled:
            "\(subject) was let go of and never called (law 25): its handler will not run. Whatever it was given to "
                + "must call it once, on every path."
        case .refused(let reason):
            "The handler of a callback did not run. "
                + Refusal(reason, by: context ?? "its context", origin: origin).description
        }
    }

    private var subject: String {
        guard let context else { return "The completion handler made at \(origin)" }
        return "The callback wrapped at \(origin) for '\(context)'"
    }

    /// Writes the description to standard error, as one line.
    ///
    /// It is what `callback` does with a fault if it is given nothing else to do. Work that did not run because
    /// its token was invalidated is passed over: that was asked for.
    public func report() {
        if reason == .refused(.invalidated) { return }
        // In one piece, so that lines of several threads do not mix. Who has no standard error misses nothing.
        try? FileHandle.standardError.write(contentsOf: Data("ExecutionContexts: \(description)\n".utf8))
    }
}
