// A closure of the main actor is no `@Sendable` closure of anybody's, so the main context takes it as what it is.

extension MainContext {
    /// Wraps a completion handler of the main actor without arguments, wherever it is called from.
    public func callback(
        fileID: StaticString = #fileID, line: UInt = #line,
        _ handler: @escaping @MainActor @Sendable () -> Void,
        onFault: @escaping @Sendable (CallbackFault) -> Void = { $0.report() }
    ) -> @Sendable () -> Void {
        let plain: @Sendable () -> Void = { MainActor.assumeIsolated(handler) }
        return general.callback(fileID: fileID, line: line, plain, onFault: onFault)
    }

    /// Wraps a completion handler of the main actor, to be run there once, wherever it is called from.
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

    /// Wraps a completion handler of the main actor with two arguments, wherever it is called from.
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

    /// Wraps a completion handler of the main actor with three arguments, wherever it is called from.
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
