public import Dispatch

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
/// - `$count.exclusively { ... }`: several accesses, also to several properties on one context, as
///   one.
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
    /// Raw memory: the context ensures exclusive access, and across an `await` only the context
    /// can.
    private let value: UnsafeMutablePointer<Value>
    /// The change in progress. Written by exclusive accesses only, and read by all.
    private let change: UnsafeMutablePointer<Change>

    /// Makes a property that a dispatch queue of your own, or the main queue, guards.
    ///
    /// Passing a global queue, which ignores barriers, traps (law 28).
    public convenience init(wrappedValue: Value, queue: DispatchQueue) {
        self.init(wrappedValue, Transaction.context(of: queue))
    }

    /// Makes a property that a context guards.
    public convenience init(wrappedValue: Value, on context: some SynchronousBarrierContext) {
        self.init(wrappedValue, context)
    }

    private init(_ initial: Value, _ context: any SynchronousBarrierContext) {
        self.context = context
        unsafe value = .allocate(capacity: 1)
        unsafe value.initialize(to: initial)
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
    public var projectedValue: Transaction { Transaction(context) }

    /// Changes the value as one transaction, and returns the result of `body`. If `body` throws,
    /// nothing changes.
    ///
    /// `body` works on a copy. It may read the property, which has its old value until `body` has
    /// returned. For one change to a large collection use the property itself, which changes it in
    /// place.
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
