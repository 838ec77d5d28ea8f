internal import ExecutionContexts

/// An event without the type of its values, which only the two ends of a graph know: the flight
/// that reports it, and the handler.
///
/// So the code between them is not generic. A generic type's size and layout are looked up at every
/// use, which took half the time of a flight.
@usableFromInline
enum NodeEvent: Sendable {
    case progress(WorkProgress)
    case partial(Payload)
    case succeeded(Payload)
    case failed(any Error)

    /// Whether no event follows.
    var isEnd: Bool {
        switch self {
        case .progress, .partial: false
        case .succeeded, .failed: true
        }
    }

    /// The end that `outcome` is.
    @inlinable
    init<Value: Sendable>(ending outcome: Result<Value, any Error>) {
        switch outcome {
        case .success(let value): self = .succeeded(TypedPayload(value))
        case .failure(let error): self = .failed(error)
        }
    }

    /// The outcome, if this is the end of work with values of this type.
    func outcome<Value: Sendable>(of: Value.Type) -> Result<Value, any Error>? {
        switch self {
        case .progress, .partial: nil
        case .succeeded(let payload): .success(payload.value(as: Value.self))
        case .failed(let error): .failure(error)
        }
    }
}

extension WorkEvent {
    /// The event of work with values of this type.
    @inlinable
    init(_ event: NodeEvent) {
        switch event {
        case .progress(let progress): self = .progress(progress)
        case .partial(let payload): self = .partial(payload.value(as: Value.self))
        case .succeeded(let payload): self = .finished(.success(payload.value(as: Value.self)))
        case .failed(let error): self = .finished(.failure(error))
        }
    }
}
