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
/// Every use is one access, exclusive if it changes the value: `count += 1` loses nothing, whoever else does the same
/// (law 29). Two uses are two accesses: `count = count + 1` may lose what comes between them. There are three ways
/// to change the value:
///
/// - `count += 1`, `cache[key] = item`, a mutating method: in place, without a copy. Until it ends, a use of the same
///   property by whoever is changing it stops the program, as Swift's own law of exclusivity would. Where it throws,
///   what it has changed so far stays.
/// - `_count.mutate { ... }`: all or nothing, on a copy that replaces the value at the end. Where it throws, nothing
///   has changed. The closure may read the property, and sees the value as it was at the start.
/// - `$count.exclusively { ... }`: several accesses, also to several properties on one context, as one.
///
/// Two properties on one context can be swapped. Two on different contexts as well, but if two threads swap them
/// crosswise they wait for each other for ever, as with any two locks: let what is swapped share a context.
///
/// An exclusive access may span an `await`, and keeps everybody else out until it ends. Who waits blocks a thread: if
/// tasks wait, they can use up the threads that the access needs to go on, so prefer `mutate`, which cannot be
/// suspended. On the main actor, an access to a property that the main queue guards must not span an `await`: that
/// leaves the queue to others, and whoever uses the property meanwhile stops the program.
///
/// A property with a setter makes a `Sendable` class a compile error, whatever guards it. There, keep the wrapper
/// itself in a `let`, which is sendable if the value is:
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
    /// Raw memory: the context sees to exclusive access, and across an `await` it alone can.
    private let value: UnsafeMutablePointer<Value>
    /// What is being done to the value. Written by exclusive accesses only, and read by all.
    private let change: UnsafeMutablePointer<Change>

    /// Makes a property that a dispatch queue of your own, or the main queue, guards.
    ///
    /// A global queue, which ignores barriers, stops the program (law 28).
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
                if unsafe change.pointee == .inPlace { stopOverlap("read") }
                return unsafe value.pointee
            }
        }
        set {
            // The old value goes after the transaction: its end may be anybody's code (law 9).
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
                // It releases when it dies, which is now: a `defer` may not consume it.
                withExtendedLifetime(hold) {}
            }
            yield unsafe &value.pointee
        }
    }

    /// The transaction that guards the value, for several accesses as one.
    public var projectedValue: Transaction { Transaction(context) }

    /// Changes the value as one transaction, all of it or, where `body` throws, none, and returns what `body` does.
    ///
    /// `body` works on a copy. It may read the property, which has its old value until `body` has returned. For one
    /// change to a large collection use the property itself, which changes it in place.
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
        // The old value goes after the transaction: its end may be anybody's code (law 9).
        _ = consume old
        return result
    }

    private func begin(_ next: Change) {
        if unsafe change.pointee != .none { stopOverlap("changed") }
        unsafe change.pointee = next
    }

    private func exchange(_ new: consuming Value) -> Value {
        let old = unsafe value.move()
        unsafe value.initialize(to: new)
        return old
    }

    private func stopOverlap(_ what: String) -> Never {
        stopMisuse(
            "A property on '\(context.name)' was \(what) in the middle of a change to it, by whoever is changing it "
                + "(law 29). End that change first, or use the value that it was given.")
    }
}

// Unchecked: the value is reached through the context only, one change at a time.
extension TransactionWrapper: @unchecked Sendable where Value: Sendable {}

private enum Change {
    case none
    /// The memory of the value belongs to somebody else's `inout`.
    case inPlace
    /// The memory of the value is whole, and will be replaced.
    case onCopy
}
