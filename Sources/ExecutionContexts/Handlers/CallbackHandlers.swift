// - Inlinable, so that the types of the arguments are known where `callback` is called: a look-up
//   of a generic class at run time costs more than the allocation.
// - The context is `any`: no code is specialized for the type of a context that is not known.
// - Structs: a generic class would call a bare closure through a thunk, with another allocation.

/// A handler without arguments.
@usableFromInline
@frozen
struct Handler0: Sendable {
    @usableFromInline let call: @Sendable () -> Void

    @inlinable
    init(_ call: @escaping @Sendable () -> Void) { self.call = call }

    /// Returns the handler that runs this one on a context.
    @inlinable
    func wrapped(
        for context: any ExecutionContext, _ fileID: StaticString, _ line: UInt,
        _ onFault: @escaping @Sendable (CallbackFault) -> Void
    ) -> @Sendable () -> Void {
        let callback = CallbackState(self, on: context, fileID, line, onFault)
        return {
            switch callback.begin() {
            case .nothing: break
            case .here: callback.take().call()
            case .submit: callback.send { callback.take().call() }
            }
        }
    }
}

/// A handler with one argument.
@usableFromInline
@frozen
struct Handler1<First: Sendable>: Sendable {
    @usableFromInline let call: @Sendable (First) -> Void

    @inlinable
    init(_ call: @escaping @Sendable (First) -> Void) { self.call = call }

    /// Returns the handler that runs this one on a context.
    @inlinable
    func wrapped(
        for context: any ExecutionContext, _ fileID: StaticString, _ line: UInt,
        _ onFault: @escaping @Sendable (CallbackFault) -> Void
    ) -> @Sendable (First) -> Void {
        let callback = CallbackState(self, on: context, fileID, line, onFault)
        return { first in
            switch callback.begin() {
            case .nothing: break
            case .here: callback.take().call(first)
            case .submit: callback.send { callback.take().call(first) }
            }
        }
    }
}

/// A handler with two arguments.
@usableFromInline
@frozen
struct Handler2<First: Sendable, Second: Sendable>: Sendable {
    @usableFromInline let call: @Sendable (First, Second) -> Void

    @inlinable
    init(_ call: @escaping @Sendable (First, Second) -> Void) { self.call = call }

    /// Returns the handler that runs this one on a context.
    @inlinable
    func wrapped(
        for context: any ExecutionContext, _ fileID: StaticString, _ line: UInt,
        _ onFault: @escaping @Sendable (CallbackFault) -> Void
    ) -> @Sendable (First, Second) -> Void {
        let callback = CallbackState(self, on: context, fileID, line, onFault)
        return { first, second in
            switch callback.begin() {
            case .nothing: break
            case .here: callback.take().call(first, second)
            case .submit: callback.send { callback.take().call(first, second) }
            }
        }
    }
}

/// A handler with three arguments.
@usableFromInline
@frozen
struct Handler3<First: Sendable, Second: Sendable, Third: Sendable>: Sendable {
    @usableFromInline let call: @Sendable (First, Second, Third) -> Void

    @inlinable
    init(_ call: @escaping @Sendable (First, Second, Third) -> Void) { self.call = call }

    /// Returns the handler that runs this one on a context.
    @inlinable
    func wrapped(
        for context: any ExecutionContext, _ fileID: StaticString, _ line: UInt,
        _ onFault: @escaping @Sendable (CallbackFault) -> Void
    ) -> @Sendable (First, Second, Third) -> Void {
        let callback = CallbackState(self, on: context, fileID, line, onFault)
        return { first, second, third in
            switch callback.begin() {
            case .nothing: break
            case .here: callback.take().call(first, second, third)
            case .submit: callback.send { callback.take().call(first, second, third) }
            }
        }
    }
}
