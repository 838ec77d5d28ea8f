/// A value that each thread has for itself.
///
/// Use it for state that belongs to a thread and for caches without a lock. The instantiator, if
/// there is one, makes the value of a thread at its first use:
///
/// ```swift
/// let formatter = ThreadLocalValue<DateFormatter>(namespace: "Events", key: "dateFormatter") { _ in
///     let formatter = DateFormatter()
///     formatter.dateFormat = "yyyyMMdd_HHmmss"
///     return formatter
/// }
/// ```
///
/// With a key the value lives in the `threadDictionary` of the thread, under `fullKey`. Other code
/// finds it there, and two thread-locals of equal full keys share it. A value of another type there
/// reads as nil (law 21). Values are bridged as by the dictionary: a number reads as every
/// type of number that can represent it. Without a key the value has a table entry of its own that
/// cannot clash with others, and costs about a nanosecond. Use a key to share, none otherwise.
///
/// A thread's value is released when the thread ends, on that thread. When a thread-local without a
/// key is released, each thread releases its own value at its next use of one or at its end (law
/// 23). The main thread ends with the program, so its values are never released.
///
/// It is not for state that follows a task, which moves from thread to thread: use `TaskLocal`.
/// Hence `value()`, `cachedValue()` and `set(_:)` cannot be called in asynchronous code; call them
/// in a synchronous function, or within `withValue(_:operation:)`. Nor does it pass a value to jobs
/// submitted to a context: use `binding(_:to:)`.
public final class ThreadLocalValue<Value>: Sendable {
    /// Makes a thread's value, or returns nil, which stores nothing.
    public typealias Instantiator = @Sendable (_ local: ThreadLocalValue<Value>) -> Value?

    // Copies of what `storage` has, for the fast path; with a key, an index beyond every table.
    @usableFromInline let index: UInt32
    @usableFromInline let serial: UInt64
    private let storage: Storage
    private let instantiator: Instantiator?

    private enum Storage: Sendable {
        case table(LocalStorage)
        case keyed(any KeyedStorage)
    }

    /// Makes a thread-local whose values live in a storage that other code uses as well.
    init(keyed: any KeyedStorage, instantiator: Instantiator?) {
        (index, serial) = (Self.noIndex, 0)
        storage = .keyed(keyed)
        self.instantiator = instantiator
    }

    /// Makes a thread-local with a table entry of its own.
    public init(instantiator: Instantiator? = nil) {
        let local = LocalStorage(of: Value.self)
        (index, serial) = (local.index, local.serial)
        storage = .table(local)
        self.instantiator = instantiator
    }

    deinit {
        if case .table(let local) = storage { local.close() }
    }

    @inlinable static var noIndex: UInt32 { .max }

    /// The index of its entry in every thread's table, as long as it lives.
    package var placeInTable: UInt32 { index }

    /// The key, or nil if it has none.
    public var key: String? { keyed?.key }

    /// The namespace, or nil if it has none.
    public var namespace: String? { keyed?.namespace }

    /// The key in the thread's dictionary: `namespace.key`, or `key`, or nil if it has no key.
    public var fullKey: String? { keyed?.fullKey }

    /// Sets the calling thread's value; nil removes it, so that `value()` makes a new one.
    ///
    /// If `Value` is optional, `nil` removes the value and `.some(nil)` stores nil.
    @inlinable
    @available(
        *, noasync, message: "A task may change threads: call this from a synchronous function."
    )
    public func set(_ value: sending Value?) { replace(by: value) }

    /// Runs `body` with the calling thread's value, made if there is none, and returns its result.
    ///
    /// ```swift
    /// let text = formatter.withCurrent { $0?.string(from: date) }
    /// ```
    ///
    /// Use it for a value that is not `Sendable`: no part of it leaves `body`, and so the thread.
    /// (A result must be `Sendable`: with a `sending` result the compiler would let the value
    /// itself out.) The value is moved out of storage meanwhile, and `body` may change it, or
    /// remove it with nil. Another use of this thread-local within `body` traps with a message,
    /// since it would not see the value. `body` receives nil if the instantiator returns nil or is
    /// missing.
    public func withCurrent<Result: ~Copyable & Sendable, Failure: Error>(
        _ body: (inout sending Value?) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        // Unchecked: it was this thread's only, and no other code reaches it until it is back.
        nonisolated(unsafe) var current = storedOrMade()
        replace(by: nil)
        defer {
            requireNoStoredValue()
            unsafe replace(by: current)
        }
        return try LocalInitialization.using(self) { () throws(Failure) -> Result in
            // Swift 6.2 passes no captured variable as `sending`.
            nonisolated(unsafe) var own = unsafe current.take()
            defer { unsafe current = own }
            return try unsafe body(&own)
        }
    }

    /// Runs `operation` with another value, or none, on the calling thread, then restores the old
    /// one.
    ///
    /// It restores also if `operation` throws or changes the value itself.
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
    /// The instantiator runs at most once on a thread until the value is changed (law 22). It may
    /// use this thread-local: a `value()` within it returns the value stored by then, or nil, and
    /// makes none. A value that it has stored itself stays, and the one it returns is dropped. The
    /// result is nil if the instantiator returns nil or is missing.
    @inlinable
    @available(
        *, noasync, message: "A task may change threads: call this from a synchronous function."
    )
    public func value() -> Value? { presentOrMade() }

    /// The calling thread's value, if it has one; never makes one (law 22).
    @inlinable
    @available(
        *, noasync, message: "A task may change threads: call this from a synchronous function."
    )
    public func cachedValue() -> Value? { present() }
}

// For the language mode that does not check which values leave a thread, and code written for it.
extension ThreadLocalValue {
    /// The calling thread's value; makes and stores one if there is none. Keep it on the thread.
    @inlinable
    @available(
        swift, obsoleted: 6,
        message: "A value that is not Sendable would leave its thread: use withCurrent (law 22)."
    )
    @available(
        *, noasync, message: "A task may change threads: call this from a synchronous function."
    )
    public func value() -> Value? { presentOrMade() }

    /// The calling thread's value, if it has one; never makes one. Keep it on the thread.
    @inlinable
    @available(
        swift, obsoleted: 6,
        message: "A value that is not Sendable would leave its thread: use withCurrent (law 22)."
    )
    @available(
        *, noasync, message: "A task may change threads: call this from a synchronous function."
    )
    public func cachedValue() -> Value? { present() }
}

extension ThreadLocalValue {
    // MARK: - Fast paths

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
        if let value, let entry = unsafe LocalTable.find(index, serial) {
            return unsafe LocalTable.replace(entry.assumingMemoryBound(to: Value.self), by: value)
        }
        store(value)
    }

    // MARK: - Slow paths

    private var keyed: (any KeyedStorage)? {
        guard case .keyed(let keyed) = storage else { return nil }
        return keyed
    }

    @usableFromInline @inline(never)
    func stored() -> Value? {
        let stored: Value?
        switch storage {
        case .table(let local):
            stored = unsafe LocalTable.found(local)?.assumingMemoryBound(to: Value.self).pointee
        case .keyed(let keyed): stored = keyed.load()
        }
        if stored == nil { requireUnused() }
        return stored
    }

    private func requireUnused() {
        require(
            !LocalInitialization.isUsed(self),
            "The thread-local value '\(fullKey ?? "\(Value.self)")' was used within its own withCurrent, which has "
                + "moved it out (law 22). Use the value that the closure is given.")
    }

    /// Traps if another thread-local of the same key, or other code, has stored a value.
    private func requireNoStoredValue() {
        guard let keyed else { return }
        require(
            keyed.object == nil,
            "A value was stored under '\(keyed.fullKey)' while a withCurrent had the thread's value, and would be "
                + "overwritten (laws 21, 22). Change the value that the closure is given.")
    }

    @usableFromInline @inline(never)
    func storedOrMade() -> Value? {
        if let stored = stored() { return stored }
        guard let instantiator, let made = LocalInitialization.once(self, { instantiator(self) })
        else {
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
        switch storage {
        case .table(let local):
            if let value { LocalTable.store(value, for: local) } else { LocalTable.remove(local) }
        case .keyed(let keyed): keyed.object = value.map { $0 as Any }
        }
    }

    @usableFromInline
    func withKeyedValue<Result: ~Copyable, Failure: Error>(
        _ value: Value?, operation: () throws(Failure) -> Result
    ) throws(Failure) -> Result {
        guard let keyed else { return try operation() }
        // The object as it is stored: it may be of another type, and other code's.
        let before = keyed.object
        keyed.object = value.map { $0 as Any }
        defer { keyed.object = before }
        return try operation()
    }
}

/// Where a thread-local with a key stores the values of each thread.
protocol KeyedStorage: Sendable {
    var namespace: String? { get }
    var key: String { get }
    /// `namespace.key`, or `key`.
    var fullKey: String { get }

    /// The calling thread's object under the key, whichever code stored it.
    var object: Any? { get nonmutating set }

    /// The object as a value, or nil if it is of another type.
    func load<Value>() -> Value?
}

extension ContextAddition where Self == Propagation {
    /// This value of a thread-local, for the jobs of the context while they run.
    public static func binding<Value: Sendable>(
        _ local: ThreadLocalValue<Value>, to value: Value?
    ) -> Propagation {
        Propagation(bindsCallerValues: false) { work in { local.withValue(value) { work() } } }
    }
}

extension ExecutionContext {
    /// This context, whose jobs see this value of a thread-local while they run.
    ///
    /// The thread's previous value is restored after each job, so no job sees what another one set:
    ///
    /// ```swift
    /// let context = GlobalContext().binding(requestID, to: "41")
    /// ```
    ///
    /// To let jobs see a value of their submitter, use a `TaskLocal` and `propagating(_:)`.
    public func binding<Value: Sendable>(
        _ local: ThreadLocalValue<Value>, to value: Value?
    ) -> ContextView<Self, Propagation> { with(.binding(local, to: value)) }
}
