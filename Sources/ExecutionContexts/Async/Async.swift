/// A future: a value or an error that comes later, and is delivered on contexts of the subscribers'
/// choice.
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
/// handler. Wait for it with callbacks, with `get()` in async code or, on a thread that may block,
/// with `wait()`.
///
/// An `Async` runs nothing by itself: releasing it stops nothing. A caller that is no longer
/// interested calls `cancel()` (law 26).
@frozen
public struct Async<Value: Sendable>: Sendable {
    /// What an `Async` completes with: a value, or an error.
    public typealias Outcome = Result<Value, any Error>

    /// The future state, which all copies share, and which does not know the value type.
    @usableFromInline let state: FutureState

    @inlinable
    init(state: FutureState) { self.state = state }

    /// Makes an `Async` that has completed with an error.
    @inlinable
    public init(error: any Error) { self.init(.failure(error)) }

    /// Makes an `Async` that has completed: `Async(.success(7))`, or with the outcome of
    /// synchronous code.
    ///
    /// There is no `init(value:)`. A trailing closure drops its label, so `Async { compute() }`
    /// would match it, and the value would be the closure itself, which never runs.
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
    ///   another derived `Async`, or a waiting task or thread.
    /// - So cancelling the last end of a chain reaches the promise or the submission at its head.
    /// - Cancelling one of two branches does not reach it.
    /// - What ``shared()`` returns is cancelled by its own `cancel()` only.
    /// - A submission whose body has started is not cancelled: its body runs to its end and
    ///   completes it.
    @discardableResult
    public func cancel() -> Bool { state.cancel() }
}
