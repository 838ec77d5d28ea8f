/// A context that is kept to one holder: nothing else of it runs until the release, on whichever thread.
///
/// It comes from `SynchronousBarrierContext.hold()`. Letting go of it releases the context as well.
public struct ExclusiveHold: ~Copyable, Sendable {
    private var end: Work?

    /// Makes a hold that calls `end` at its release, once; for contexts of your own.
    public init(releasing end: @escaping Work) { self.end = end }

    private init() { end = nil }

    deinit { end?() }

    /// A hold of nothing, for who is exclusive already.
    public static var nothing: ExclusiveHold { ExclusiveHold() }

    /// Lets the context go on.
    public consuming func release() {}

    /// This hold, with something to do before its release.
    consuming func preceded(by step: @escaping Work) -> ExclusiveHold {
        guard let end = end.take() else { return ExclusiveHold(releasing: step) }
        return ExclusiveHold(releasing: {
            step()
            end()
        })
    }

    /// This hold, with something to do after its release.
    consuming func then(_ next: @escaping Work) -> ExclusiveHold {
        guard let end = end.take() else { return ExclusiveHold(releasing: next) }
        return ExclusiveHold(releasing: {
            end()
            next()
        })
    }
}
