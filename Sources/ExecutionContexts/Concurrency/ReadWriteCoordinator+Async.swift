extension ReadWriteCoordinator {
    /// Runs `body` beside other reads and returns its value or throws its error; blocks no thread.
    ///
    /// It runs on the caller if it can begin at once, else on the global context after the writes
    /// before it. Cancelling the task before that throws `CancellationError`, and the body never
    /// runs (law 13).
    public nonisolated(nonsending) func readAsync<Value: Sendable>(
        fileID: StaticString = #fileID, line: UInt = #line,
        _ body: @escaping @Sendable () throws -> Value
    ) async throws -> Value {
        try Task.checkCancellation()
        if let value = try read(timeout: .zero, body) { return value }
        return try await QueuedReads(exclusion: exclusion).run(fileID: fileID, line: line, body)
    }

    /// Runs `body` as an enqueued write and returns its value or throws its error; blocks no
    /// thread.
    ///
    /// Cancelling the task before the write begins throws `CancellationError`, and the body never
    /// runs (law 13).
    public nonisolated(nonsending) func writeAsync<Value: Sendable>(
        fileID: StaticString = #fileID, line: UInt = #line,
        _ body: @escaping @Sendable () throws -> Value
    ) async throws -> Value {
        try await writing.run(fileID: fileID, line: line, body)
    }
}

/// Reads that wait without a thread.
private struct QueuedReads: ExecutionContext {
    let exclusion: any ReadWriteExclusion

    func execute(_ work: @escaping Work) { exclusion.enqueueRead(work) }

    var time: any TimeSource { exclusion.writeContext.time }

    var name: String { "\(exclusion.name).reading" }
}
