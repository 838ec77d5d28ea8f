public import ExecutionContexts
internal import ExecutionContextsDiagnostics

extension ObservedWork {
    /// Its label, or else where it was written, or else "#" and its number.
    ///
    /// The first look-up of the place where it was written takes milliseconds.
    public var name: String { source.name(ofJob: id) }

    /// Where the job was written, as file and line: "Store.swift:14".
    ///
    /// It is the line of its closure, or of the call that submitted it. A bare closure has the name
    /// of its function instead, if the program has no debug information, and on Apple's systems.
    /// Nil if that is not known, or in the library itself.
    public var sourceLocation: String? { place.text }
}
