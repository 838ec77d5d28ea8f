internal import ExecutionContexts

/// A submitted transformation, which waits or runs.
struct Transformation<Value: Sendable>: Sendable {
    let async: Async<Value>
    let setPriority: @Sendable (WorkPriority) -> Void

    init(_ async: Async<Value>, setPriority: @escaping @Sendable (WorkPriority) -> Void = { _ in })
    {
        self.async = async
        self.setPriority = setPriority
    }
}

/// Transforms the values of another work item, one at a time; the final value does not wait.
final class Processing<Input: Sendable, Value: Sendable>: @unchecked Sendable {
    // Unchecked: `current` and `isLast` are accessed in graph jobs only.
    private let flight: Flight<Value>
    private let submit: @Sendable (Input, Bool) -> Transformation<Value>
    /// The transformation that waits or runs.
    private var current: Transformation<Value>?
    private var isLast = false

    init(
        for flight: Flight<Value>,
        by submit: @escaping @Sendable (Input, Bool) -> Transformation<Value>
    ) {
        self.flight = flight
        self.submit = submit
    }

    /// Handles an event of the other work, in the job that notifies its subscribers.
    func receive(_ event: WorkEvent<Input>) {
        switch event {
        case .progress(let progress): flight.report(progress)
        case .partial(let value): if current == nil { begin(value) }
        case .finished(.success(let value)):
            stop()
            isLast = true
            begin(value)
        case .finished(.failure(let error)):
            stop()
            flight.fail(error)
        }
    }

    /// Cancels the current transformation. If it has begun, its result is discarded.
    func stop() { current.take()?.async.cancel() }

    func change(to priority: WorkPriority) { current?.setPriority(priority) }

    private func begin(_ value: Input) {
        let isLast = isLast
        let transformation = submit(value, isLast)
        current = transformation
        // The transformation may have ended already. Its result is handled in a job after this one.
        transformation.async.onComplete { outcome in
            self.flight.node.graph.jobs.perform(.library("graph event")) { _ in
                self.end(outcome, isLast)
            }
        }
    }

    private func end(_ outcome: Result<Value, any Error>, _ wasLast: Bool) {
        if wasLast { return _ = flight.complete(outcome) }
        // The final transformation has begun, so this result is discarded.
        if isLast { return }
        current = nil
        if case .success(let value) = outcome { flight.yield(value) }
    }
}
