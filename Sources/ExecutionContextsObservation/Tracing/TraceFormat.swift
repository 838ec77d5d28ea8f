/// A format of traces that viewers read.
public enum TraceFormat: Hashable, Sendable {
    /// JSON text in the format of Chrome, which Perfetto and other viewers read.
    case json
    /// Perfetto's own format, in a third of the bytes.
    case perfetto
}
