public import Dispatch

/// Access to the state that a context guards: reads see whole transactions only, writes are
/// exclusive.
///
/// The value stays where it is; the transaction is the way to it. It costs little, so make one for
/// each access:
///
/// ```swift
/// final class Accounts: @unchecked Sendable {
///     // Unchecked: the balances are reached through transactions only.
///     private let context = BarrierQueueContext(name: "accounts")
///     private var balances = ["rent": 100, "food": 0]
///
///     private var transaction: Transaction { Transaction(on: context) }
///
///     var total: Int { transaction.read(balances.values.reduce(0, +)) }
///
///     func move(_ amount: Int) {
///         transaction.write {
///             self.balances["rent"]! -= amount
///             self.balances["food"]! += amount
///         }
///     }
/// }
/// ```
///
/// Exclusion lives in the *context*: transactions on one context exclude each other, and the
/// context's own barriers (law 28). Inside a transaction a read runs at once, and inside an
/// exclusive access so does an exclusive access. Inside a mere read an exclusive access would wait
/// for that read: it traps with a message (law 18).
///
/// `read` and `exclusively` block the caller until they can begin. Two threads that nest exclusive
/// accesses to two contexts in opposite orders deadlock: let state that changes together have one
/// context.
public struct Transaction: Sendable {
    private let context: any SynchronousBarrierContext

    /// Makes a transaction on a context.
    public init(on context: some SynchronousBarrierContext) { self.context = context }

    init(_ context: any SynchronousBarrierContext) { self.context = context }

    /// Makes a transaction on a dispatch queue of your own, serial or concurrent, or on the main
    /// queue.
    ///
    /// Passing a global queue, which ignores barriers, traps (law 28).
    public init(queue: DispatchQueue) { context = Self.context(of: queue) }

    /// Reads a value, beside other reads where the context runs them concurrently.
    public func read<Value>(_ value: @autoclosure () -> Value) -> Value { context.sync(value) }

    /// Reads what `block` returns, beside other reads where the context runs them concurrently.
    public func read<Value, Failure: Error>(
        block: () throws(Failure) -> Value
    ) throws(Failure) -> Value {
        try context.sync(block)
    }

    /// Runs `block` exclusively, some time after this call and in the order of submission.
    ///
    /// A read that is submitted later sees what it wrote.
    public func write(block: @escaping Work) { context.executeBarrier(block) }

    /// Runs `block` exclusively before this call returns, and returns its value or throws its
    /// error.
    ///
    /// If `block` throws, the changes made so far stay.
    public func exclusively<Value, Failure: Error>(
        _ block: () throws(Failure) -> Value
    ) throws(Failure) -> Value {
        try context.syncBarrier(block)
    }

    static func context(of queue: DispatchQueue) -> any SynchronousBarrierContext {
        let entry = QueueEntry(queue)
        switch entry.mark.kind {
        case .own: return ForeignQueueContext(entry: entry)
        case .main: return MainContext()
        case .global:
            stopMisuse(
                "A transaction was made on '\(queue.label)', a global queue, which ignores barriers and so excludes no "
                    + "other access (law 28). Use a queue of your own, or Transaction(on: .global.serial())."
            )
        }
    }
}
