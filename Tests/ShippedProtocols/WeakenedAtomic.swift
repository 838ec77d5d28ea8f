import ExecutionContextsTesting
public import Synchronization

// The sources of the library in `Shipped` are compiled once more, with these atomics in place of
// those of the system.
public typealias Atomic = WeakenedAtomic

/// A simulated atomic. One operation at a time has a weaker order than it was written with.
public struct WeakenedAtomic<Value: AtomicRepresentable>: ~Copyable {
    private let atomic: SimulatedAtomic<Value>
    /// Identifies it, wherever it is moved.
    let number: UInt

    public init(_ value: Value, fileID: StaticString = #fileID, line: UInt = #line) {
        atomic = SimulatedAtomic(value, fileID: fileID, line: line)
        number = World.current.nextNumber()
    }

    /// The latest value, as the system compares it before a thread sleeps.
    borrowing func isStill(_ value: Value) -> Bool {
        atomic.compareExchange(expected: value, desired: value, ordering: .relaxed).exchanged
    }

    public borrowing func load(
        ordering: AtomicLoadOrdering, fileID: StaticString = #fileID, line: UInt = #line
    ) -> Value {
        atomic.load(ordering: Site(fileID, line, .load).order(ordering))
    }

    public borrowing func store(
        _ value: Value, ordering: AtomicStoreOrdering, fileID: StaticString = #fileID,
        line: UInt = #line
    ) {
        atomic.store(value, ordering: Site(fileID, line, .store).order(ordering))
    }

    public borrowing func exchange(
        _ value: Value, ordering: AtomicUpdateOrdering, fileID: StaticString = #fileID,
        line: UInt = #line
    ) -> Value {
        atomic.exchange(value, ordering: Site(fileID, line, .update).order(ordering))
    }

    public borrowing func compareExchange(
        expected: Value, desired: Value, ordering: AtomicUpdateOrdering,
        fileID: StaticString = #fileID, line: UInt = #line
    ) -> (exchanged: Bool, original: Value) {
        atomic.compareExchange(
            expected: expected, desired: desired,
            ordering: Site(fileID, line, .update).order(ordering))
    }

    public borrowing func compareExchange(
        expected: Value, desired: Value, successOrdering: AtomicUpdateOrdering,
        failureOrdering: AtomicLoadOrdering, fileID: StaticString = #fileID, line: UInt = #line
    ) -> (exchanged: Bool, original: Value) {
        atomic.compareExchange(
            expected: expected, desired: desired,
            successOrdering: Site(fileID, line, .update).order(successOrdering),
            failureOrdering: Site(fileID, line, .failure).order(failureOrdering))
    }

    public borrowing func weakCompareExchange(
        expected: Value, desired: Value, successOrdering: AtomicUpdateOrdering,
        failureOrdering: AtomicLoadOrdering, fileID: StaticString = #fileID, line: UInt = #line
    ) -> (exchanged: Bool, original: Value) {
        atomic.weakCompareExchange(
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
        atomic.wrappingAdd(operand, ordering: Site(fileID, line, .update).order(ordering))
    }

    @discardableResult
    public borrowing func wrappingSubtract(
        _ operand: Value, ordering: AtomicUpdateOrdering, fileID: StaticString = #fileID,
        line: UInt = #line
    ) -> (oldValue: Value, newValue: Value) {
        atomic.wrappingSubtract(operand, ordering: Site(fileID, line, .update).order(ordering))
    }
}

/// A place in the sources with an atomic operation.
struct Site: Hashable, CustomStringConvertible {
    enum Operation: Hashable { case load, store, update, failure }
    let file: String
    let line: UInt
    let operation: Operation

    init(_ fileID: StaticString, _ line: UInt, _ operation: Operation) {
        file = String("\(fileID)".split(separator: "/").last ?? "")
        (self.line, self.operation) = (line, operation)
    }

    var description: String { "\(operation) at \(file):\(line)" }

    func order(_ order: AtomicLoadOrdering) -> AtomicLoadOrdering {
        switch order {
        case .sequentiallyConsistent: weakens(to: ["acquiring"]) == nil ? order : .acquiring
        case .acquiring: weakens(to: ["relaxed"]) == nil ? order : .relaxed
        default: order
        }
    }

    func order(_ order: AtomicStoreOrdering) -> AtomicStoreOrdering {
        switch order {
        case .sequentiallyConsistent: weakens(to: ["releasing"]) == nil ? order : .releasing
        case .releasing: weakens(to: ["relaxed"]) == nil ? order : .relaxed
        default: order
        }
    }

    func order(_ order: AtomicUpdateOrdering) -> AtomicUpdateOrdering {
        switch order {
        case .sequentiallyConsistent:
            return weakens(to: ["both"]) == nil ? order : .acquiringAndReleasing
        case .acquiringAndReleasing:
            switch weakens(to: ["acquiring", "releasing"]) {
            case "acquiring": return .acquiring
            case "releasing": return .releasing
            default: return order
            }
        case .acquiring, .releasing: return weakens(to: ["relaxed"]) == nil ? order : .relaxed
        default: return order
        }
    }

    /// The order that the operation has instead of its own; notes what it could be.
    private func weakens(to orders: [String]) -> String? {
        for order in orders { World.weakenings.insert(Weakening(site: self, order: order)) }
        guard let present = World.weakening, present.site == self else { return nil }
        return orders.first { $0 == present.order }
    }
}

/// One operation with a weaker order.
struct Weakening: Hashable, CustomStringConvertible {
    let site: Site
    let order: String
    var description: String { "\(site) as \(order)" }
}
