/// A value that comes later, and whoever wants it says where.
///
/// ```swift
/// dataSource.getBirds().onSuccess(on: .main) { birds in
///     print("\(birds.count) birds")
/// }
/// ```
///
/// It completes once, with a value or an error; the first completion wins (law 24). Every callback is called exactly
/// once, on the context named with it, in the order of registration, whether it was registered before or after
/// (law 25). A copy is the same `Async`. Make one with a ``Promise``, with `context.submit`, from an async function or from
/// a completion handler; wait for it with callbacks, with `get()` in async code or, on a thread that may block, with `wait()`.
///
/// An `Async` runs nothing by itself: what was started goes on if nobody keeps it. Who wants it no more says so with
/// `cancel()` (law 26).
@frozen
public struct Async<Value: Sendable>: Sendable {
    /// How one ends: a value, or an error.
    public typealias Outcome = Result<Value, any Error>

    /// Shared by all copies; its type is not known to it.
    @usableFromInline let cell: AsyncCell

    @inlinable
    init(cell: AsyncCell) { self.cell = cell }

    /// One that has ended with an error.
    @inlinable
    public init(error: any Error) { self.init(.failure(error)) }

    /// One that has ended: `Async(.success(7))`, or with the outcome of something synchronous.
    ///
    /// There is no `init(value:)`. A trailing closure drops its label, so `Async { compute() }` would match it, and the
    /// value would be the closure itself, which never runs.
    @inlinable
    public init(_ outcome: Outcome) {
        cell = AsyncCell()
        cell.end(with: outcome)
    }

    /// How it ended, or nil while it has not.
    @inlinable
    public var outcome: Outcome? { cell.isPending ? nil : cell.outcome() }

    /// Whether it has ended.
    @inlinable
    public var isCompleted: Bool { !cell.isPending }

    /// Ends it with `CancellationError`, unless it has ended; true if this call did it.
    ///
    /// Its subscribers are told so. Its source is cancelled in turn if it has no other interested subscriber: a callback,
    /// another derived `Async`, or a waiting task or thread (law 26). So cancelling the last end of a chain reaches
    /// the promise or the submission at its head, and cancelling one of two branches does not. What ``shared()`` returns
    /// is cancelled by its own `cancel()` only. A submission whose body has started is not ended: its body runs to its
    /// end and completes it.
    @discardableResult
    public func cancel() -> Bool { cell.cancel() }
}
