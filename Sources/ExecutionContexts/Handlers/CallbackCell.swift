/// A handler that waits for its call; what `callback` returns keeps one.
///
/// The handler stays here until the context runs it: a caller that held it as well might be the last to let go of it
/// (law 10).
@usableFromInline
@_fixed_layout
final class CallbackCell<Handler: Sendable>: CallbackCore, @unchecked Sendable {
    // Unchecked for the reasons given in the core, which says who may take the handler.
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

    deinit { wasLetGo(with: handler.take()) }

    /// The handler, for the one whose turn it is to call it.
    @inlinable
    func take() -> Handler {
        // Not `take()`: what goes through a generic function of another module has its type looked up.
        let taken = handler!
        handler = nil
        return taken
    }

    override func discard() { handler = nil }
}
