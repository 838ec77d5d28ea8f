// A `@MainActor` closure does not convert to a plain `@Sendable` closure, so contexts on the
// main actor have overloads that take it with its isolation.

extension MainActorContext {
    /// Wraps a completion handler of the main actor without arguments, to run there once.
    public func callback(
        fileID: StaticString = #fileID, line: UInt = #line,
        _ handler: @escaping @MainActor @Sendable () -> Void,
        onFault: @escaping @Sendable (CallbackFault) -> Void = { $0.report() }
    ) -> @Sendable () -> Void {
        let plain: @Sendable () -> Void = { MainActor.assumeIsolated(handler) }
        return general.callback(fileID: fileID, line: line, plain, onFault: onFault)
    }

    /// Wraps a completion handler of the main actor, to run there once, whichever thread calls it.
    ///
    /// ```swift
    /// let show = MainContext().callback { (birds: [String]) in print(birds) }
    /// ```
    public func callback<First: Sendable>(
        fileID: StaticString = #fileID, line: UInt = #line,
        _ handler: @escaping @MainActor @Sendable (First) -> Void,
        onFault: @escaping @Sendable (CallbackFault) -> Void = { $0.report() }
    ) -> @Sendable (First) -> Void {
        let plain: @Sendable (First) -> Void = { first in
            MainActor.assumeIsolated { handler(first) }
        }
        return general.callback(fileID: fileID, line: line, plain, onFault: onFault)
    }

    /// Wraps a completion handler of the main actor with two arguments, to run there once.
    public func callback<First: Sendable, Second: Sendable>(
        fileID: StaticString = #fileID, line: UInt = #line,
        _ handler: @escaping @MainActor @Sendable (First, Second) -> Void,
        onFault: @escaping @Sendable (CallbackFault) -> Void = { $0.report() }
    ) -> @Sendable (First, Second) -> Void {
        let plain: @Sendable (First, Second) -> Void = { first, second in
            MainActor.assumeIsolated { handler(first, second) }
        }
        return general.callback(fileID: fileID, line: line, plain, onFault: onFault)
    }

    /// Wraps a completion handler of the main actor with three arguments, to run there once.
    public func callback<First: Sendable, Second: Sendable, Third: Sendable>(
        fileID: StaticString = #fileID, line: UInt = #line,
        _ handler: @escaping @MainActor @Sendable (First, Second, Third) -> Void,
        onFault: @escaping @Sendable (CallbackFault) -> Void = { $0.report() }
    ) -> @Sendable (First, Second, Third) -> Void {
        let plain: @Sendable (First, Second, Third) -> Void = { first, second, third in
            MainActor.assumeIsolated { handler(first, second, third) }
        }
        return general.callback(fileID: fileID, line: line, plain, onFault: onFault)
    }
}
