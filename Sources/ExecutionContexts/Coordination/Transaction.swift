public import Dispatch

/// Access to the state that a context guards: reads see whole transactions, writes are exclusive.
///
/// The value stays where it is; the transaction is the way to it. Make one for each access:
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
/// accesses to two contexts in opposite orders deadlock: keep on one context what changes together.
public struct Transaction: Sendable {
    private let context: any SynchronousBarrierContext

    /// Makes a transaction on a context.
    public init(on context: some SynchronousBarrierContext) { self.context = context }

    /// Makes a transaction on a queue of your own, serial or concurrent, or on the main queue.
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

    /// Runs `block` exclusively before it returns its value or throws its error.
    ///
    /// If `block` throws, the changes made so far stay.
    public func exclusively<Value, Failure: Error>(
        _ block: () throws(Failure) -> Value
    ) throws(Failure) -> Value {
        try context.syncBarrier(block)
    }

    fileprivate static func context(of queue: DispatchQueue) -> any SynchronousBarrierContext {
        let entry = QueueEntry(queue)
        switch entry.mark.kind {
        case .own: return entry
        case .main: return MainContext()
        case .global:
            stopMisuse(
                "A transaction was made on '\(queue.label)', a global queue, which ignores barriers and so excludes no "
                    + "other access (law 28). Use a queue of your own, or Transaction(on: .global.serial())."
            )
        }
    }
}

/// A property that is read and changed by transactions on a context.
///
/// ```swift
/// final class Counter {
///     @TransactionWrapper(wrappedValue: 0, on: .global.serial())
///     var count: Int
///
///     func increment() { count += 1 }
/// }
/// ```
///
/// Every use is one access, exclusive if it changes the value: no update is lost if several threads
/// run `count += 1` (law 29). Two uses are two accesses: `count = count + 1` may overwrite a change
/// made between them. There are three ways to change the value:
///
/// - `count += 1`, `cache[key] = item`, a mutating method: in place, without a copy. Until it ends,
///   a use of the same property by the caller that is changing it traps, as Swift's own law of
///   exclusivity would. If it throws, the changes made so far stay.
/// - `_count.mutate { ... }`: all or nothing, on a copy that replaces the value at the end. If it
///   throws, nothing has changed. The closure may read the property, and sees the value as it was
///   at the start.
/// - `$count.exclusively { ... }`: several accesses as one, also to several properties on one
///   context.
///
/// Two properties on one context can be swapped. Two on different contexts can be swapped as well,
/// but two threads that swap them in opposite orders deadlock, as with any two locks: let
/// properties that are swapped share a context.
///
/// An exclusive access may span an `await`, and excludes all other callers until it ends. A caller
/// that waits blocks a thread. Waiting tasks can use up the threads that the access needs to
/// continue, so prefer `mutate`, which cannot be suspended. On the main actor, an access to a
/// property that the main queue guards must not span an `await`: that leaves the queue to other
/// jobs, and a job that uses the property meanwhile traps.
///
/// A property with a setter makes a `Sendable` class a compile error, whatever guards it. There,
/// keep the wrapper itself in a `let`, which is sendable if the value is:
///
/// ```swift
/// final class Counter: Sendable {
///     private let count = TransactionWrapper(wrappedValue: 0, on: .global.serial())
///
///     func increment() { count.wrappedValue += 1 }
/// }
/// ```
@propertyWrapper
@safe public final class TransactionWrapper<Value> {
    private let context: any SynchronousBarrierContext
    /// Raw memory: only the context can ensure exclusive access across an `await`.
    private let value: UnsafeMutablePointer<Value>
    /// The change in progress. Written by exclusive accesses only, and read by all.
    private let change: UnsafeMutablePointer<Change>

    /// Makes a property that a dispatch queue of your own, or the main queue, guards.
    ///
    /// Passing a global queue, which ignores barriers, traps (law 28).
    public convenience init(wrappedValue: Value, queue: DispatchQueue) {
        self.init(wrappedValue: wrappedValue, on: Transaction.context(of: queue))
    }

    /// Makes a property that a context guards.
    public init(wrappedValue: Value, on context: some SynchronousBarrierContext) {
        self.context = context
        unsafe value = .allocate(capacity: 1)
        unsafe value.initialize(to: wrappedValue)
        unsafe change = .allocate(capacity: 1)
        unsafe change.initialize(to: .none)
    }

    deinit {
        unsafe value.deinitialize(count: 1)
        unsafe value.deallocate()
        unsafe change.deallocate()
    }

    /// The value: read by one transaction, changed by another.
    public var wrappedValue: Value {
        get {
            context.sync {
                if unsafe change.pointee == .inPlace { trapOverlap("read") }
                return unsafe value.pointee
            }
        }
        set {
            // The old value is released after the transaction: its deinit may run any code (law 9).
            let old = context.syncBarrier {
                begin(.none)
                return exchange(newValue)
            }
            _ = consume old
        }
        _modify {
            let hold = context.hold()
            begin(.inPlace)
            defer {
                unsafe change.pointee = .none
                // The hold ends when it is destroyed, after this: a `defer` may not consume it.
                withExtendedLifetime(hold) {}
            }
            yield unsafe &value.pointee
        }
    }

    /// The transaction that guards the value, for several accesses as one.
    public var projectedValue: Transaction { Transaction(on: context) }

    /// Changes the value as one transaction, and returns what `body` returns. A throw changes
    /// nothing.
    ///
    /// `body` works on a copy. It may read the property, which has its old value until `body`
    /// returns. For one change to a large collection use the property, which changes in place.
    public func mutate<Result, Failure: Error>(
        _ body: (inout Value) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        let (result, old) = try context.syncBarrier { () throws(Failure) -> (Result, Value) in
            begin(.onCopy)
            defer { unsafe change.pointee = .none }
            var copy = unsafe value.pointee
            let result = try body(&copy)
            return (result, exchange(copy))
        }
        // The old value is released after the transaction: its deinit may run any code (law 9).
        _ = consume old
        return result
    }

    private func begin(_ next: Change) {
        if unsafe change.pointee != .none { trapOverlap("changed") }
        unsafe change.pointee = next
    }

    private func exchange(_ new: consuming Value) -> Value {
        let old = unsafe value.move()
        unsafe value.initialize(to: new)
        return old
    }

    private func trapOverlap(_ what: String) -> Never {
        stopMisuse(
            "A property on '\(context.name)' was \(what) during a change to it, by the caller that is changing it "
                + "(law 29). End that change first, or use the value that the change was given.")
    }
}

// Unchecked: the value is reached through the context only, one change at a time.
extension TransactionWrapper: @unchecked Sendable where Value: Sendable {}

private enum Change {
    case none
    /// An `inout` access owns the memory of the value.
    case inPlace
    /// The memory of the value is whole, and will be replaced.
    case onCopy
}
