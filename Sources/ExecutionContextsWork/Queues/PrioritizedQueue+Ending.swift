public import ExecutionContexts

// Waiting for a queue, and emptying it.
extension PrioritizedQueue {
    /// Returns an `Async` that completes when no job waits in the queue or holds a permit.
    ///
    /// Jobs that its jobs submit count. It completes at the first idle moment, after the results of
    /// the jobs before it; a queue that receives jobs without pause may never be idle. Cancelling
    /// it cancels no job.
    public func drained(fileID: StaticString = #fileID, line: UInt = #line) -> Async<Void> {
        let promise = Promise<Void>(fileID: fileID, line: line)
        if let number = core.whenIdle({ promise.succeed() }) {
            promise.onCancel { [core] in core.removeIdleHandler(number) }
        }
        return promise.async
    }

    /// Cancels the jobs with results that have not started; returns how many.
    ///
    /// Their results are `CancellationError`. A started job continues: cancel its ``QueuedWork``,
    /// or use a `CancellationScope`. A job without a result is not cancelled, since no caller could
    /// be notified: it runs (law 1).
    @discardableResult
    public func cancelAll() -> Int { core.cancelAll() }

    /// Submits `body` when `delay` has passed in the time of the queue's context, and returns its
    /// value or its error as an `Async`.
    ///
    /// It is queued after the jobs of its priority that were submitted by then, and never early
    /// (law 7). Cancelling the `Async` cancels the delay, or the job if it has not started.
    @discardableResult
    public func submit<Value: Sendable>(
        after delay: Duration, priority: WorkPriority = .medium,
        fileID: StaticString = #fileID, line: UInt = #line,
        _ body: @escaping @Sendable () throws -> Value
    ) -> Async<Value> {
        let body = Deadline.admitting(body, by: core.name, from: "\(fileID):\(line)")
        // The closure retains the queue, so that it is not released before.
        return Async<Void>(.success(()))
            .delay(delay, on: core.base, fileID: fileID, line: line)
            .flatMap { self.submit(priority: priority, fileID: fileID, line: line, body).async }
    }
}
