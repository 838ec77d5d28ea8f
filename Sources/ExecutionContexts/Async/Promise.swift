/// The other side of an `Async`: whoever holds it completes it, once.
///
/// ```swift
/// func getBirds() -> Async<[Bird]> {
///     let promise = Promise<[Bird]>()
///     loader.load("birds.json") { data in promise.complete(with: { try Bird.list(from: data) }) }
///     return promise.async
/// }
/// ```
///
/// A promise that is let go of without having been completed completes its `Async` with an error that says so (law 26).
@_fixed_layout
public final class Promise<Value: Sendable>: Sendable {
    /// What will have the value.
    @inlinable
    public var async: Async<Value> { Async(cell: cell) }

    @usableFromInline let cell: PromiseCell

    /// Makes a promise; its place is named where it is dropped and in descriptions.
    @inlinable
    public init(fileID: StaticString = #fileID, line: UInt = #line) {
        cell = PromiseCell(origin: Origin(fileID, line))
    }

    @inlinable
    deinit {
        if cell.isPending { cell.abandon() }
    }

    /// Completes it with a value; false if it had ended before, which changes nothing (law 24).
    @inlinable
    @discardableResult
    public func succeed(_ value: Value) -> Bool { cell.end(with: value) }

    /// Completes it with an error; false if it had ended before, which changes nothing (law 24).
    @inlinable
    @discardableResult
    public func fail(_ error: any Error) -> Bool { cell.end(throwing: error) }

    /// Completes it with an outcome; false if it had ended before, which changes nothing (law 24).
    @inlinable
    @discardableResult
    public func complete(_ outcome: Result<Value, any Error>) -> Bool { cell.end(with: outcome) }

    /// Completes it with what `body` returns or throws; false if it had ended before (law 24).
    ///
    /// The body is run all the same.
    @inlinable
    @discardableResult
    public func complete(with body: () throws -> Value) -> Bool {
        cell.end(with: Result(catching: body))
    }

    /// Completes it as another one will have completed; false if it had ended before, or follows one already (law 24).
    ///
    /// It may still be completed by hand. When it has, or is cancelled, the other one loses a party.
    @inlinable
    @discardableResult
    public func follow(_ other: Async<Value>) -> Bool {
        cell.complete(like: other.cell) { source, cell in cell.end(like: source, Value.self) }
    }

    /// Runs `body` when the `Async` is cancelled, once, at once if it has been; never after another end.
    ///
    /// By then it has ended with `CancellationError`: the body stops whatever would have completed it. It runs on the
    /// thread that cancels, before the call that cancels returns, and is dropped as soon as it cannot be called any more.
    /// A body may cancel what has such a body, and so on: from 32 deep on, the inner call returns first (law 25).
    public func onCancel(_ body: @escaping Work) { cell.onCancel(body) }
}
