import ExecutionContextsTesting
public import Synchronization

// The sources of the library in `Shipped` are compiled once more, with these atomics in place of
// those of the system.
public typealias Atomic = WeakenedAtomic

/// A simulated atomic. One operation at a time has a weaker order than it was written with.
///
/// It has the size of a word, as what it stands for, and needs no deinitialization: the world has
/// its values.
public struct WeakenedAtomic<Value: AtomicRepresentable>: ~Copyable {
    /// Identifies it, wherever it is moved.
    let number: UInt

    public init(_ value: Value, fileID: StaticString = #fileID, line: UInt = #line) {
        number = World.current.atomics.add(
            Values(SimulatedAtomic(value, fileID: fileID, line: line)))
    }

    /// One whose first value all threads know.
    init(known value: Value, fileID: StaticString = #fileID, line: UInt = #line) {
        number = World.current.atomics.addKnown(
            Values(SimulatedAtomic(value, fileID: fileID, line: line)))
    }

    // Unchecked: a simulated atomic guards itself.
    private final class Values: @unchecked Sendable {
        let atomic: SimulatedAtomic<Value>
        init(_ atomic: consuming SimulatedAtomic<Value>) { self.atomic = atomic }
    }

    private var values: Values {
        unsafe unsafeDowncast(World.current.use(number), to: Values.self)
    }

    /// The latest value, as the system compares it before a thread sleeps.
    borrowing func isStill(_ value: Value) -> Bool {
        values.atomic.compareExchange(expected: value, desired: value, ordering: .relaxed).exchanged
    }

    public borrowing func load(
        ordering: AtomicLoadOrdering, fileID: StaticString = #fileID, line: UInt = #line
    ) -> Value {
        values.atomic.load(ordering: Site(fileID, line, .load).order(ordering))
    }

    public borrowing func store(
        _ value: Value, ordering: AtomicStoreOrdering, fileID: StaticString = #fileID,
        line: UInt = #line
    ) {
        values.atomic.store(value, ordering: Site(fileID, line, .store).order(ordering))
    }

    public borrowing func exchange(
        _ value: Value, ordering: AtomicUpdateOrdering, fileID: StaticString = #fileID,
        line: UInt = #line
    ) -> Value {
        values.atomic.exchange(value, ordering: Site(fileID, line, .update).order(ordering))
    }

    public borrowing func compareExchange(
        expected: Value, desired: Value, ordering: AtomicUpdateOrdering,
        fileID: StaticString = #fileID, line: UInt = #line
    ) -> (exchanged: Bool, original: Value) {
        values.atomic.compareExchange(
            expected: expected, desired: desired,
            ordering: Site(fileID, line, .update).order(ordering))
    }

    public borrowing func compareExchange(
        expected: Value, desired: Value, successOrdering: AtomicUpdateOrdering,
        failureOrdering: AtomicLoadOrdering, fileID: StaticString = #fileID, line: UInt = #line
    ) -> (exchanged: Bool, original: Value) {
        values.atomic.compareExchange(
            expected: expected, desired: desired,
            successOrdering: Site(fileID, line, .update).order(successOrdering),
            failureOrdering: Site(fileID, line, .failure).order(failureOrdering))
    }

    public borrowing func weakCompareExchange(
        expected: Value, desired: Value, successOrdering: AtomicUpdateOrdering,
        failureOrdering: AtomicLoadOrdering, fileID: StaticString = #fileID, line: UInt = #line
    ) -> (exchanged: Bool, original: Value) {
        values.atomic.weakCompareExchange(
            expected: expected, desired: desired,
            successOrdering: Site(fileID, line, .update).order(successOrdering),
            failureOrdering: Site(fileID, line, .failure).order(failureOrdering))
    }
}

extension WeakenedAtomic: Sendable where Value: Sendable {}

extension WeakenedAtomic where Value: FixedWidthInteger {
    @discardableResult
    public borrowing func wrappingAdd(
        _ operand: Value, ordering: AtomicUpdateOrdering, fileID: StaticString = #fileID,
        line: UInt = #line
    ) -> (oldValue: Value, newValue: Value) {
        values.atomic.wrappingAdd(operand, ordering: Site(fileID, line, .update).order(ordering))
    }

    @discardableResult
    public borrowing func wrappingSubtract(
        _ operand: Value, ordering: AtomicUpdateOrdering, fileID: StaticString = #fileID,
        line: UInt = #line
    ) -> (oldValue: Value, newValue: Value) {
        values.atomic.wrappingSubtract(
            operand, ordering: Site(fileID, line, .update).order(ordering))
    }

    @discardableResult
    public borrowing func subtract(
        _ operand: Value, ordering: AtomicUpdateOrdering, fileID: StaticString = #fileID,
        line: UInt = #line
    ) -> (oldValue: Value, newValue: Value) {
        values.atomic.subtract(operand, ordering: Site(fileID, line, .update).order(ordering))
    }

    @discardableResult
    public borrowing func bitwiseOr(
        _ operand: Value, ordering: AtomicUpdateOrdering, fileID: StaticString = #fileID,
        line: UInt = #line
    ) -> (oldValue: Value, newValue: Value) {
        values.atomic.bitwiseOr(operand, ordering: Site(fileID, line, .update).order(ordering))
    }

    @discardableResult
    public borrowing func bitwiseAnd(
        _ operand: Value, ordering: AtomicUpdateOrdering, fileID: StaticString = #fileID,
        line: UInt = #line
    ) -> (oldValue: Value, newValue: Value) {
        values.atomic.bitwiseAnd(operand, ordering: Site(fileID, line, .update).order(ordering))
    }

    @discardableResult
    public borrowing func bitwiseXor(
        _ operand: Value, ordering: AtomicUpdateOrdering, fileID: StaticString = #fileID,
        line: UInt = #line
    ) -> (oldValue: Value, newValue: Value) {
        values.atomic.bitwiseXor(operand, ordering: Site(fileID, line, .update).order(ordering))
    }
}
