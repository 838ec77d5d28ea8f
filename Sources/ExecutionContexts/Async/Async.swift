/// A future: a value or an error that comes later, on contexts of the subscribers' choice.
///
/// ```swift
/// dataSource.getBirds().onSuccess(on: .main) { birds in
///     print("\(birds.count) birds")
/// }
/// ```
///
/// It completes once, with a value or an error; the first completion wins (law 24). Every callback
/// is called exactly once, on the context named with it, in the order of registration, whether it
/// was registered before or after the completion (law 25). A copy is the same `Async`.
///
/// Make one with a ``Promise``, with `context.submit`, from an async function or from a completion
/// handler. Wait with callbacks, with `get()` in async code, or with `wait()` if you may block.
///
/// An `Async` runs nothing by itself: releasing it stops nothing. A caller that is no longer
/// interested calls `cancel()` (law 26).
@frozen
public struct Async<Value: Sendable>: Sendable {
    /// What an `Async` completes with: a value, or an error.
    public typealias Outcome = Result<Value, any Error>

    /// All copies share it, and it does not know the value type.
    @usableFromInline let state: FutureState

    @inlinable
    init(state: FutureState) { self.state = state }

    /// Makes an `Async` that has completed with an error.
    @inlinable
    public init(error: any Error) { self.init(.failure(error)) }

    /// Makes an `Async` that has completed: `Async(.success(7))`.
    ///
    /// There is no `init(value:)`: `Async { compute() }` would match it, and never run the closure.
    @inlinable
    public init(_ outcome: Outcome) {
        state = FutureState()
        state.complete(with: outcome)
    }

    /// The outcome; nil while it is pending.
    @inlinable
    public var outcome: Outcome? { state.isPending ? nil : state.outcome() }

    /// Whether it has completed.
    @inlinable
    public var isCompleted: Bool { !state.isPending }

    /// Completes it with `CancellationError`, unless it has completed; true if this call did it.
    ///
    /// Its subscribers are notified. Then (law 26):
    ///
    /// - Its source is cancelled in turn if that has no other interested subscriber: a callback,
    ///   another derived `Async`, or a waiting task or thread. So cancelling the last end of a
    ///   chain reaches the promise or the submission at its head; one of two branches does not.
    /// - What ``shared()`` returns is cancelled by its own `cancel()` only.
    /// - A submission whose body has started is completed by its body.
    @discardableResult
    public func cancel() -> Bool { state.cancel() }
}

/// Why an `Async` completed without an outcome of its own.
public enum AsyncError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The promise was released before it was completed (law 26).
    case abandoned(promise: String)
    /// There was no outcome within the time limit.
    case timedOut(after: Duration)
    /// The first of an empty sequence was requested.
    case nothingToWaitFor
    /// The caller of a completion handler passed neither a value nor an error.
    case noOutcome
    /// The `Async` was made to follow itself.
    case waitsForItself

    public var description: String {
        switch self {
        case .abandoned(let promise):
            "The promise made at \(promise) was released before it was completed (law 26). "
                + "Keep it until succeed, fail or complete is called."
        case .timedOut(let limit):
            "There was no outcome within \(limit)."
        case .nothingToWaitFor:
            "The first of an empty sequence was requested, and can never complete (law 24). "
                + "Pass at least one Async."
        case .noOutcome:
            "A completion handler was called with neither a value nor an error. Pass one of them."
        case .waitsForItself:
            "An Async follows itself, and could never complete (law 24). Return or follow another one."
        }
    }
}

extension Async: CustomStringConvertible {
    /// The outcome; while it is pending, the chain of its sources, and its subscribers.
    public var description: String {
        switch outcome {
        case .success(let value): "Async(\(value))"
        case .failure(let error): "Async(failed: \(error))"
        case nil: "Async(waits for \(state.chain); \(state.subscriberList))"
        }
    }
}

extension FutureState {
    /// The chain of sources, from this state to one without a source; of a long one, both ends.
    final var chain: String {
        var labels: [String] = []
        var skipped = 0
        var known: Set<ObjectIdentifier> = []
        var next: FutureState? = self
        while let state = next {
            guard known.insert(ObjectIdentifier(state)).inserted else {
                labels.append("\(state.label) again, for ever")
                break
            }
            // A source that has completed is not waited for.
            next = state.awaited.flatMap { $0.isPending ? $0 : nil }
            if labels.count < 8 || next == nil { labels.append(state.label) } else { skipped += 1 }
        }
        if skipped > 0 { labels.insert("\(skipped) more", at: labels.count - 1) }
        return labels.joined(separator: " <- ")
    }

    /// The subscribers, as text; and how many of them are interested, if some are not.
    fileprivate final var subscriberList: String {
        lock.lock()
        let (hasFirst, subscribers) = unsafe (machine.hasFirst, machine.subscribers)
        lock.unlock()
        // Outside the lock: the name of a context may be code of the user (law 9).
        let labels =
            (hasFirst ? [Callback.label] : [])
            + subscribers.map { $0.isOnlooker ? "\($0.label) without interest" : $0.label }
        let onlookers = subscribers.count { $0.isOnlooker }
        var text =
            labels.isEmpty
            ? "no subscribers" : "subscribers: " + labels.prefix(8).joined(separator: ", ")
        if labels.count > 8 { text += " and \(labels.count - 8) more" }
        if onlookers > 0 { text += "; \(labels.count - onlookers) interested" }
        return cancelsWhenUnwanted ? text : text + "; continues without any"
    }
}
