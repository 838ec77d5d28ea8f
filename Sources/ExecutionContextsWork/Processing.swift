internal import ExecutionContexts

/// Something that waits to be made, or is being made.
struct Making<Value: Sendable>: Sendable {
    let async: Async<Value>
    let setPriority: @Sendable (WorkPriority) -> Void

    init(_ async: Async<Value>, setPriority: @escaping @Sendable (WorkPriority) -> Void = { _ in }) {
        self.async = async
        self.setPriority = setPriority
    }
}

/// What one work makes of another one's values: one at a time, and the last one waits for none.
final class Processing<Input: Sendable, Value: Sendable>: @unchecked Sendable {
    // Unchecked: `current` and `isLast` are touched on the graph's context only.
    private let flight: Flight<Value>
    private let submit: @Sendable (Input, Bool) -> Making<Value>
    /// What is waiting to be made or being made.
    private var current: Making<Value>?
    private var isLast = false

    init(for flight: Flight<Value>, by submit: @escaping @Sendable (Input, Bool) -> Making<Value>) {
        self.flight = flight
        self.submit = submit
    }

    /// Takes what the other work tells, in its turn.
    func take(_ event: WorkEvent<Input>) {
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

    /// Cancels what has not begun; what has is nobody's any more.
    func stop() { current.take()?.async.cancel() }

    func change(to priority: WorkPriority) { current?.setPriority(priority) }

    private func begin(_ value: Input) {
        let isLast = isLast
        let making = submit(value, isLast)
        current = making
        // Made by then, perhaps; in any case told in a turn, behind this one.
        making.async.onComplete { outcome in
            self.flight.node.graph.turns.perform { self.end(outcome, isLast) }
        }
    }

    private func end(_ outcome: Result<Value, any Error>, _ wasLast: Bool) {
        if wasLast { return _ = flight.complete(outcome) }
        // The last one has begun in the meantime, and nobody waits for this one.
        if isLast { return }
        current = nil
        if case .success(let value) = outcome { flight.yield(value) }
    }
}
