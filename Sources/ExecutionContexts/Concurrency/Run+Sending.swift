// Overloads for values that are not `Sendable`: the body makes one, and the caller gets it. The
// compiler chooses the overload for `Sendable` values where both fit. That one also takes function
// values, which say nothing about where their result comes from.
extension ExecutionContext {
    /// Runs `body` on this context and returns the value that it made, which need not be
    /// `Sendable`.
    ///
    /// ```swift
    /// let formatter = try await context.run { DateFormatter() }
    /// ```
    ///
    /// The compiler checks that nothing else refers to the value, so no lock is needed. All else is
    /// as with a `Sendable` value.
    @inlinable
    @_disfavoredOverload
    public nonisolated(nonsending) func run<Value>(
        fileID: StaticString = #fileID, line: UInt = #line,
        _ body: @escaping @Sendable () throws -> sending Value
    ) async throws -> sending Value {
        let sent = try await run(fileID: fileID, line: line) { Sent(try body()) }
        return sent.value
    }

    /// Runs an async `body` on this context and returns the value that it made, which need not be
    /// `Sendable`.
    @inlinable
    public nonisolated(nonsending) func runTask<Value>(
        fileID: StaticString = #fileID, line: UInt = #line,
        _ body: @escaping @Sendable () async throws -> sending Value
    ) async throws -> sending Value {
        let sent = try await runTask(fileID: fileID, line: line) { Sent(try await body()) }
        return sent.value
    }
}

extension MainActorContext {
    /// Runs a closure of the main actor on this context and returns the value that it made, which
    /// need not be `Sendable`.
    public nonisolated(nonsending) func run<Value>(
        fileID: StaticString = #fileID, line: UInt = #line,
        _ body: @escaping @MainActor @Sendable () throws -> sending Value
    ) async throws -> sending Value {
        let sent = try await general.run(fileID: fileID, line: line) {
            try MainActor.assumeIsolated { Sent(try body()) }
        }
        return sent.value
    }
}

/// A value on its way to the caller.
@frozen @usableFromInline
struct Sent<Value>: @unchecked Sendable {
    // Unchecked: the body sends the value to this, and only the caller takes it out.
    @usableFromInline let value: Value

    @inlinable
    init(_ value: sending Value) { self.value = value }
}
