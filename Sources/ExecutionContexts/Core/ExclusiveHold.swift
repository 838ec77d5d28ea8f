/// Exclusive access to a context: until the release, no other code runs in it, on any thread.
///
/// It is returned by `SynchronousBarrierContext.hold()`. Its deinit releases the context as well.
public struct ExclusiveHold: ~Copyable, Sendable {
    var end: Work?

    /// Makes a hold that calls `end` once, at its release; for contexts of your own.
    public init(releasing end: @escaping Work) { self.end = end }

    private init() { end = nil }

    deinit { end?() }

    /// A hold that holds nothing, for a caller that already has exclusive access.
    public static var nothing: ExclusiveHold { ExclusiveHold() }

    /// Releases the context.
    public consuming func release() {}
}
