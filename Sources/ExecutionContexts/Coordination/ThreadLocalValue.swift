/// A value that each thread has for itself.
///
/// It is for state that belongs to a thread and for caches without a lock. The instantiator, if there is one, makes
/// the value of a thread when it is first asked for:
///
/// ```swift
/// let formatter = ThreadLocalValue<DateFormatter>(namespace: "Events", key: "dateFormatter") { _ in
///     let formatter = DateFormatter()
///     formatter.dateFormat = "yyyyMMdd_HHmmss"
///     return formatter
/// }
/// ```
///
/// With a key it lives in the `threadDictionary` of the thread, under `fullKey`, where other code finds it and two
/// thread-locals of equal full keys share it; a value of another type there reads as nil (law 21). What the
/// dictionary bridges, this does: a number reads as every type of number that can hold it. Without a key it
/// has a place of its own that nothing can clash with, and costs about a nanosecond. Use a key to share, none
/// otherwise.
///
/// A thread's value dies with the thread, on it. Once a thread-local without a key is gone, so are its values: each
/// thread frees its own at its next use of one or at its end (law 23). The main thread ends with the program, so
/// its values are never freed.
///
/// It is not for state that follows a task, which goes from thread to thread: use `TaskLocal`. Hence `value()`,
/// `cachedValue()` and `set(_:)` cannot be called in asynchronous code; call them in a synchronous
/// function, or within `withValue(_:operation:)`. Nor does it carry anything to work submitted to a context; that is what
/// `binding(_:to:)` is for.
public final class ThreadLocalValue<Value>: Sendable {
    /// Makes a thread's value, or returns nil, which stores nothing.
    public typealias Instantiator = @Sendable (_ local: ThreadLocalValue<Value>) -> Value?

    // Copies of what `place` says, at hand for the short way; with a key, an index that no table reaches.
    @usableFromInline let index: UInt32
    @usableFromInline let serial: UInt64
    private let place: Place
    private let instantiator: Instantiator?

    private enum Place: Sendable {
        case table(LocalHome)
        case dictionary(KeyedLocal)
    }

    /// Makes a thread-local under `namespace.key`.
    public init(namespace: String, key: String, instantiator: Instantiator? = nil) {
        (index, serial) = (Self.noIndex, 0)
        place = .dictionary(KeyedLocal(namespace: namespace, key: key))
        self.instantiator = instantiator
    }

    /// Makes a thread-local under `key`.
    public init(key: String, instantiator: Instantiator? = nil) {
        (index, serial) = (Self.noIndex, 0)
        place = .dictionary(KeyedLocal(namespace: nil, key: key))
        self.instantiator = instantiator
    }

    /// Makes a thread-local with a place of its own.
    public init(instantiator: Instantiator? = nil) {
        let home = LocalHome(of: Value.self)
        (index, serial) = (home.index, home.serial)
        place = .table(home)
        self.instantiator = instantiator
    }

    deinit {
        if case .table(let home) = place { home.close() }
    }

    @inlinable static var noIndex: UInt32 { .max }

    /// Which entry of every thread's table is its own, as long as it lives.
    package var placeInTable: UInt32 { index }

    /// The key, or nil where there is none.
    public var key: String? { keyed?.key }

    /// The namespace, or nil where there is none.
    public var namespace: String? { keyed?.namespace }

    /// The key in the thread's dictionary: `namespace.key`, or `key`, or nil where there is none.
    public var fullKey: String? { keyed?.fullKey }

    /// Gives the calling thread a value; nil takes it away, so that `value()` makes a new one.
    ///
    /// Of an optional `Value`, `nil` takes away and `.some(nil)` stores that there is nothing.
    @inlinable
    @available(*, noasync, message: "A task may change threads: call this from a synchronous function.")
    public func set(_ value: sending Value?) { replace(by: value) }

    /// Runs `body` with the calling thread's value, and returns what that returns; makes the value if there is none.
    ///
    /// ```swift
    /// let text = formatter.withCurrent { $0?.string(from: date) }
    /// ```
    ///
    /// It is the way to a value that is not `Sendable`: nothing of it leaves `body`, and so the thread. (A result must be
    /// `Sendable`: where it is `sending` instead, the compiler lets the value itself out.) The value is out of
    /// its place meanwhile, and `body` may change it, or take it away with nil. Another use of this thread-local within
    /// `body` traps with a message, since it would not see that. Nil comes where the instantiator returns nil, or is missing.
    public func withCurrent<Result: ~Copyable & Sendable, Failure: Error>(
        _ body: (inout sending Value?) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        // Unchecked: it was this thread's only, and is nobody else's until it is back in its place.
        nonisolated(unsafe) var current = storedOrMade()
        replace(by: nil)
        defer {
            requireEmptyPlace()
            unsafe replace(by: current)
        }
        return try LocalMaking.using(self) { () throws(Failure) -> Result in
            try unsafe body(&current)
        }
    }

    /// Runs `operation` with another value, or none, on the calling thread, and restores what was there before.
    ///
    /// It restores also where `operation` throws or changes the value itself.
    @inlinable
    public func withValue<Result: ~Copyable, Failure: Error>(
        _ value: sending Value?, operation: () throws(Failure) -> Result
    ) throws(Failure) -> Result {
        if index == Self.noIndex { return try withKeyedValue(value, operation: operation) }
        let before = present()
        replace(by: value)
        defer { replace(by: before) }
        return try operation()
    }
}

extension ThreadLocalValue where Value: Sendable {
    /// The calling thread's value; makes and stores one if there is none.
    ///
    /// The instantiator runs at most once on a thread until the value is changed (law 22). It may use this
    /// thread-local: a `value()` within it gives what is stored by then, or nil, and makes nothing. A value that it
    /// has stored itself stays, and what it returns is dropped. Nil is returned where it returns nil, or is missing.
    @inlinable
    @available(*, noasync, message: "A task may change threads: call this from a synchronous function.")
    public func value() -> Value? { presentOrMade() }

    /// The calling thread's value, if it has one; never makes one (law 22).
    @inlinable
    @available(*, noasync, message: "A task may change threads: call this from a synchronous function.")
    public func cachedValue() -> Value? { present() }
}

// In the language mode that does not check what leaves a thread, as code from before it has them.
extension ThreadLocalValue {
    /// The calling thread's value; makes and stores one if there is none. Keep it on the thread.
    @inlinable
    @available(
        swift, obsoleted: 6,
        message: "A value that is not Sendable would leave its thread: use withCurrent (law 22)."
    )
    @available(*, noasync, message: "A task may change threads: call this from a synchronous function.")
    public func value() -> Value? { presentOrMade() }

    /// The calling thread's value, if it has one; never makes one. Keep it on the thread.
    @inlinable
    @available(
        swift, obsoleted: 6,
        message: "A value that is not Sendable would leave its thread: use withCurrent (law 22)."
    )
    @available(*, noasync, message: "A task may change threads: call this from a synchronous function.")
    public func cachedValue() -> Value? { present() }
}

// MARK: - The short ways

extension ThreadLocalValue {
    @inlinable @inline(__always)
    func present() -> Value? {
        if let stored = unsafe LocalTable.find(index, serial) {
            return unsafe stored.assumingMemoryBound(to: Value.self).pointee
        }
        return stored()
    }

    @inlinable @inline(__always)
    func presentOrMade() -> Value? {
        if let stored = unsafe LocalTable.find(index, serial) {
            return unsafe stored.assumingMemoryBound(to: Value.self).pointee
        }
        return storedOrMade()
    }

    @inlinable @inline(__always)
    func replace(by value: Value?) {
        if let value, let place = unsafe LocalTable.find(index, serial) {
            return unsafe LocalTable.replace(place.assumingMemoryBound(to: Value.self), by: value)
        }
        store(value)
    }
}

// MARK: - The long ways

extension ThreadLocalValue {
    private var keyed: KeyedLocal? {
        guard case .dictionary(let keyed) = place else { return nil }
        return keyed
    }

    @usableFromInline @inline(never)
    func stored() -> Value? {
        let stored: Value?
        switch place {
        case .table(let home):
            stored = unsafe LocalTable.found(home)?.assumingMemoryBound(to: Value.self).pointee
        case .dictionary(let keyed): stored = keyed.load()
        }
        if stored == nil { requireUnused() }
        return stored
    }

    private func requireUnused() {
        require(
            !LocalMaking.isUsed(self),
            "The thread-local value '\(fullKey ?? "\(Value.self)")' was used within its own withCurrent, which has it in "
                + "hand (law 22). Use the value that the closure is given.")
    }

    /// Another thread-local of the same key, or other code, may store something in the dictionary.
    private func requireEmptyPlace() {
        guard let keyed else { return }
        require(
            keyed.object == nil,
            "A value was stored under '\(keyed.fullKey)' while a withCurrent had the thread's value in hand, and would be "
                + "lost (laws 21, 22). Change the value that the closure is given.")
    }

    @usableFromInline @inline(never)
    func storedOrMade() -> Value? {
        if let stored = stored() { return stored }
        guard let instantiator, let made = LocalMaking.once(self, { instantiator(self) }) else {
            // The instantiator may have stored one and returned nil.
            return stored()
        }
        if let stored = stored() { return stored }
        store(made)
        return made
    }

    @usableFromInline @inline(never)
    func store(_ value: Value?) {
        requireUnused()
        switch place {
        case .table(let home):
            if let value { LocalTable.store(value, for: home) } else { LocalTable.remove(home) }
        case .dictionary(let keyed): keyed.store(value)
        }
    }

    @usableFromInline
    func withKeyedValue<Result: ~Copyable, Failure: Error>(
        _ value: Value?, operation: () throws(Failure) -> Result
    ) throws(Failure) -> Result {
        guard let keyed else { return try operation() }
        // As it lies there: it may be of another type, and other code's.
        let before = keyed.object
        keyed.store(value)
        defer { keyed.object = before }
        return try operation()
    }
}
