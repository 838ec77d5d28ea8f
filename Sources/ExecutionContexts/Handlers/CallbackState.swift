/// A wrapped handler that waits for its call; the closure that `callback` returns retains it.
///
/// The handler stays here until the context runs it: a caller that retained it as well might
/// release it last (law 10).
@usableFromInline
@_fixed_layout
final class CallbackState<Handler: Sendable>: CallbackCore, @unchecked Sendable {
    // Unchecked for the reasons given in CallbackCore, which says which thread takes the handler.
    @usableFromInline
    var handler: Handler?

    @inlinable
    init(
        _ handler: Handler, on context: any ExecutionContext, _ fileID: StaticString, _ line: UInt,
        _ onFault: @escaping @Sendable (CallbackFault) -> Void
    ) {
        self.handler = handler
        super.init(on: context, fileID, line, onFault)
    }

    deinit { wasReleased(with: handler.take()) }

    /// Returns the handler, to the one thread that calls it.
    @inlinable
    func take() -> Handler {
        // Not `take()`: a generic function of another module would look its type up at run time.
        let taken = handler!
        handler = nil
        return taken
    }

    override func discard() { handler = nil }
}
