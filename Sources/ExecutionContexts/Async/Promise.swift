/// The writing side of an `Async`: its owner completes the `Async`, once.
///
/// ```swift
/// func getBirds() -> Async<[Bird]> {
///     let promise = Promise<[Bird]>()
///     loader.load("birds.json") { data in promise.complete(with: { try Bird.list(from: data) }) }
///     return promise.async
/// }
/// ```
///
/// A promise that is released before it was completed completes its `Async` with
/// ``AsyncError/abandoned(promise:)`` (law 26).
@_fixed_layout
public final class Promise<Value: Sendable>: Sendable {
    /// The `Async` that this completes.
    @inlinable
    public var async: Async<Value> { Async(state: state) }

    @usableFromInline let state: PromiseState

    /// Makes a promise; errors and descriptions name its source location.
    @inlinable
    public init(fileID: StaticString = #fileID, line: UInt = #line) {
        state = PromiseState(location: CodeLocation(fileID, line))
    }

    @inlinable
    deinit {
        if state.isPending { state.abandon() }
    }

    /// Completes it with a value; false, and no effect, if it had completed before (law 24).
    @inlinable
    @discardableResult
    public func succeed(_ value: Value) -> Bool { state.complete(with: value) }

    /// Completes it with an error; false, and no effect, if it had completed before (law 24).
    @inlinable
    @discardableResult
    public func fail(_ error: any Error) -> Bool { state.complete(throwing: error) }

    /// Completes it with an outcome; false, and no effect, if it had completed before (law 24).
    @inlinable
    @discardableResult
    public func complete(_ outcome: Result<Value, any Error>) -> Bool {
        state.complete(with: outcome)
    }

    /// Completes it with what `body` returns or throws; false if it had completed before (law 24).
    ///
    /// The body runs in either case.
    @inlinable
    @discardableResult
    public func complete(with body: () throws -> Value) -> Bool {
        state.complete(with: Result(catching: body))
    }

    /// Completes it like `other`, when that completes; false if it had completed, or follows one
    /// already (law 24).
    ///
    /// It may still be completed by hand or cancelled; then it no longer subscribes to the other
    /// one.
    @inlinable
    @discardableResult
    public func follow(_ other: Async<Value>) -> Bool {
        state.tryFollow(other.state, FutureState.copy(Value.self))
    }

    /// Runs `body` once, when the `Async` is cancelled or if it has been; never after another
    /// outcome.
    ///
    /// At that time the `Async` has completed with `CancellationError`, and the body stops the
    /// operation that would have completed it. The body runs on the thread that cancels, before the
    /// cancelling call returns. It is freed as soon as it cannot be called any more. A body may
    /// cancel a promise that has such a body, and so on: from 32 levels on, the inner call returns
    /// first (law 25).
    public func onCancel(_ body: @escaping Work) { state.onCancel(body) }
}

extension Promise where Value == Void {
    /// Completes it; false, and no effect, if it had completed before (law 24).
    @inlinable
    @discardableResult
    public func succeed() -> Bool { succeed(()) }
}
