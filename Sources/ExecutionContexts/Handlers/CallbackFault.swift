internal import CPlatform

/// A fault of a completion handler that `callback` or `fromCallback` made.
///
/// The mistake is seldom in the code that made the handler: a function called it twice or never, or
/// a context dropped its job. So a fault is reported, and does not trap.
public struct CallbackFault: Error, Hashable, Sendable, CustomStringConvertible {
    /// How the handler was misused, or why it did not run.
    public enum Reason: Hashable, Sendable {
        /// The handler was called again. Only the first call counts.
        case calledAgain
        /// The handler was released without a call. It will not run.
        case neverCalled
        /// The handler was called, and its context refused or dropped its job. It did not run.
        case refused(Refusal.Reason)
    }

    /// What happened to the handler.
    public let reason: Reason
    /// The name of the context that the handler was to run on; nil if it completes an `Async`.
    public let context: String?
    /// The source location that made the handler, as file and line.
    public let sourceLocation: String

    init(_ reason: Reason, context: String?, sourceLocation: String) {
        self.reason = reason
        self.context = context
        self.sourceLocation = sourceLocation
    }

    public var description: String {
        switch reason {
        case .calledAgain:
            "\(subject) was called again, which did nothing: the first call counts (law 24). The code that takes it "
                + "must call it once."
        case .neverCalled:
            "\(subject) was never called before its release (law 25): its handler will not run. The code that takes "
                + "it must call it once, on every path."
        case .refused(let reason):
            "The handler of a callback did not run. "
                + Refusal(reason, by: context ?? "its context", sourceLocation: sourceLocation)
                .description
        }
    }

    private var subject: String {
        guard let context else { return "The completion handler made at \(sourceLocation)" }
        return "The callback wrapped at \(sourceLocation) for '\(context)'"
    }

    /// Writes the description to standard error, as one line.
    ///
    /// This is what `onFault` does by default. It ignores a handler that did not run because its
    /// token was invalidated: that is what the token is for.
    public func report() {
        if reason == .refused(.invalidated) { return }
        // One write, so that the lines of several threads do not mix. Without standard error it is
        // lost.
        var line = "ExecutionContexts: \(description)\n"
        line.withUTF8 { unsafe ec_write_error($0.baseAddress, $0.count) }
    }
}
