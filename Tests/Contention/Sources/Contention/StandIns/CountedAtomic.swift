public import Synchronization

// The sources of the library in `Shipped` are compiled once more, with these atomics in place of
// those of the system.
public typealias Atomic = CountedAtomic

/// An atomic whose operations the simulated machine counts.
///
/// It has the size and the address of what it stands for, so it shares its cache line with the same
/// neighbours. The machine runs one thread at a time, so its accesses to the memory are plain ones,
/// and every order is sequentially consistent.
public struct CountedAtomic<Value: AtomicRepresentable>: ~Copyable {
    /// The memory. An atomic stays at its address, and may change while it is borrowed.
    private let memory: Synchronization.Atomic<Value>

    private typealias Words = UnsafeMutablePointer<Value.AtomicRepresentation>

    public init(_ value: Value) { memory = Synchronization.Atomic(value) }

    /// Counts an access, and gives its value to `body` afterwards.
    private borrowing func access<Result>(
        _ access: Access, _ fileID: StaticString, _ line: UInt, _ body: (Words) -> Result
    ) -> Result {
        unsafe withUnsafePointer(to: memory) { memory in
            unsafe Machine.current.access(
                UInt(bitPattern: memory), access, Site(fileID: fileID, line: line))
            return unsafe body(
                UnsafeMutableRawPointer(mutating: memory)
                    .assumingMemoryBound(to: Value.AtomicRepresentation.self))
        }
    }

    private static func value(_ words: Words) -> Value {
        unsafe Value.decodeAtomicRepresentation(words.pointee)
    }

    /// Whether the memory has the same bytes as `value`.
    private static func isEqual(_ words: Words, _ value: consuming Value) -> Bool {
        unsafe withUnsafeBytes(of: Value.encodeAtomicRepresentation(value)) { bytes in
            unsafe UnsafeRawBufferPointer(start: words, count: bytes.count).elementsEqual(bytes)
        }
    }

    public borrowing func load(
        ordering: AtomicLoadOrdering, fileID: StaticString = #fileID, line: UInt = #line
    ) -> Value {
        unsafe access(.read, fileID, line) { unsafe Self.value($0) }
    }

    public borrowing func store(
        _ desired: consuming Value, ordering: AtomicStoreOrdering,
        fileID: StaticString = #fileID, line: UInt = #line
    ) {
        let desired = Value.encodeAtomicRepresentation(desired)
        unsafe access(.write, fileID, line) { unsafe $0.pointee = desired }
    }

    public borrowing func exchange(
        _ desired: consuming Value, ordering: AtomicUpdateOrdering,
        fileID: StaticString = #fileID, line: UInt = #line
    ) -> Value {
        let desired = Value.encodeAtomicRepresentation(desired)
        return unsafe access(.write, fileID, line) { words in
            let before = unsafe Self.value(words)
            unsafe words.pointee = desired
            return before
        }
    }

    // A processor takes the line to itself for a compare-and-swap, also where that fails.
    public borrowing func compareExchange(
        expected: consuming Value, desired: consuming Value, ordering: AtomicUpdateOrdering,
        fileID: StaticString = #fileID, line: UInt = #line
    ) -> (exchanged: Bool, original: Value) {
        let (expected, desired) = (expected, Value.encodeAtomicRepresentation(desired))
        return unsafe access(.write, fileID, line) { words in
            let before = unsafe Self.value(words)
            let isEqual = unsafe Self.isEqual(words, expected)
            if isEqual { unsafe words.pointee = desired }
            return (isEqual, before)
        }
    }

    public borrowing func compareExchange(
        expected: consuming Value, desired: consuming Value,
        successOrdering: AtomicUpdateOrdering, failureOrdering: AtomicLoadOrdering,
        fileID: StaticString = #fileID, line: UInt = #line
    ) -> (exchanged: Bool, original: Value) {
        compareExchange(
            expected: expected, desired: desired, ordering: successOrdering, fileID: fileID,
            line: line)
    }

    public borrowing func weakCompareExchange(
        expected: consuming Value, desired: consuming Value,
        successOrdering: AtomicUpdateOrdering, failureOrdering: AtomicLoadOrdering,
        fileID: StaticString = #fileID, line: UInt = #line
    ) -> (exchanged: Bool, original: Value) {
        compareExchange(
            expected: expected, desired: desired, ordering: successOrdering, fileID: fileID,
            line: line)
    }

    public borrowing func weakCompareExchange(
        expected: consuming Value, desired: consuming Value, ordering: AtomicUpdateOrdering,
        fileID: StaticString = #fileID, line: UInt = #line
    ) -> (exchanged: Bool, original: Value) {
        compareExchange(
            expected: expected, desired: desired, ordering: ordering, fileID: fileID, line: line)
    }

    fileprivate borrowing func update(
        _ fileID: StaticString, _ line: UInt, _ change: (Value) -> Value
    ) -> (oldValue: Value, newValue: Value) {
        unsafe access(.write, fileID, line) { words in
            let before = unsafe Self.value(words)
            let after = change(before)
            unsafe words.pointee = Value.encodeAtomicRepresentation(after)
            return (before, after)
        }
    }
}

extension CountedAtomic: Sendable where Value: Sendable {}

extension CountedAtomic where Value: FixedWidthInteger {
    @discardableResult
    public borrowing func wrappingAdd(
        _ operand: Value, ordering: AtomicUpdateOrdering,
        fileID: StaticString = #fileID, line: UInt = #line
    ) -> (oldValue: Value, newValue: Value) { update(fileID, line) { $0 &+ operand } }

    @discardableResult
    public borrowing func wrappingSubtract(
        _ operand: Value, ordering: AtomicUpdateOrdering,
        fileID: StaticString = #fileID, line: UInt = #line
    ) -> (oldValue: Value, newValue: Value) { update(fileID, line) { $0 &- operand } }

    @discardableResult
    public borrowing func add(
        _ operand: Value, ordering: AtomicUpdateOrdering,
        fileID: StaticString = #fileID, line: UInt = #line
    ) -> (oldValue: Value, newValue: Value) { update(fileID, line) { $0 + operand } }

    @discardableResult
    public borrowing func subtract(
        _ operand: Value, ordering: AtomicUpdateOrdering,
        fileID: StaticString = #fileID, line: UInt = #line
    ) -> (oldValue: Value, newValue: Value) { update(fileID, line) { $0 - operand } }

    @discardableResult
    public borrowing func bitwiseAnd(
        _ operand: Value, ordering: AtomicUpdateOrdering,
        fileID: StaticString = #fileID, line: UInt = #line
    ) -> (oldValue: Value, newValue: Value) { update(fileID, line) { $0 & operand } }

    @discardableResult
    public borrowing func bitwiseOr(
        _ operand: Value, ordering: AtomicUpdateOrdering,
        fileID: StaticString = #fileID, line: UInt = #line
    ) -> (oldValue: Value, newValue: Value) { update(fileID, line) { $0 | operand } }

    @discardableResult
    public borrowing func bitwiseXor(
        _ operand: Value, ordering: AtomicUpdateOrdering,
        fileID: StaticString = #fileID, line: UInt = #line
    ) -> (oldValue: Value, newValue: Value) { update(fileID, line) { $0 ^ operand } }
}
