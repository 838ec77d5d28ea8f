/// A piece of work that has waited for its context, or held it, for longer than was thought right: see `watched`.
public struct Stall: Hashable, Sendable, CustomStringConvertible {
    /// What takes so long.
    public enum Phase: String, Sendable {
        /// It was submitted and has not started.
        case waiting
        /// It has started and not ended.
        case running
    }

    /// What takes so long.
    public let phase: Phase
    /// The number of the piece among those of the watched view, in the order of submission, from 1.
    public let piece: UInt64
    /// The name of the context.
    public let context: String
    /// How long it has lasted by now, in the time of the context.
    public let lasted: Duration
    /// The limit that it has passed.
    public let limit: Duration

    public var description: String {
        let what = phase == .waiting ? "has waited for" : "has held"
        return "Piece \(piece) \(what) '\(context)' for \(JSONText.duration(lasted)), and the limit is "
            + "\(JSONText.duration(limit))."
    }
}
