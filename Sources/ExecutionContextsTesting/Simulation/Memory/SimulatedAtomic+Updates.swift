public import Synchronization

// Each returns the old and the new value.
extension SimulatedAtomic where Value: FixedWidthInteger {
    /// Adds, and wraps on overflow.
    @discardableResult
    public borrowing func wrappingAdd(_ operand: Value, ordering: AtomicUpdateOrdering) -> (
        oldValue: Value, newValue: Value
    ) { update(ordering) { $0 &+ operand } }

    /// Subtracts, and wraps on overflow.
    @discardableResult
    public borrowing func wrappingSubtract(_ operand: Value, ordering: AtomicUpdateOrdering) -> (
        oldValue: Value, newValue: Value
    ) { update(ordering) { $0 &- operand } }

    /// Adds, and traps on overflow.
    @discardableResult
    public borrowing func add(_ operand: Value, ordering: AtomicUpdateOrdering) -> (
        oldValue: Value, newValue: Value
    ) { update(ordering) { $0 + operand } }

    /// Subtracts, and traps on overflow.
    @discardableResult
    public borrowing func subtract(_ operand: Value, ordering: AtomicUpdateOrdering) -> (
        oldValue: Value, newValue: Value
    ) { update(ordering) { $0 - operand } }

    /// Takes the smaller of the two.
    @discardableResult
    public borrowing func min(_ operand: Value, ordering: AtomicUpdateOrdering) -> (
        oldValue: Value, newValue: Value
    ) { update(ordering) { Swift.min($0, operand) } }

    /// Takes the larger of the two.
    @discardableResult
    public borrowing func max(_ operand: Value, ordering: AtomicUpdateOrdering) -> (
        oldValue: Value, newValue: Value
    ) { update(ordering) { Swift.max($0, operand) } }

    /// Keeps the bits that both have.
    @discardableResult
    public borrowing func bitwiseAnd(_ operand: Value, ordering: AtomicUpdateOrdering) -> (
        oldValue: Value, newValue: Value
    ) { update(ordering) { $0 & operand } }

    /// Sets the bits that either has.
    @discardableResult
    public borrowing func bitwiseOr(_ operand: Value, ordering: AtomicUpdateOrdering) -> (
        oldValue: Value, newValue: Value
    ) { update(ordering) { $0 | operand } }

    /// Sets the bits that one of the two has.
    @discardableResult
    public borrowing func bitwiseXor(_ operand: Value, ordering: AtomicUpdateOrdering) -> (
        oldValue: Value, newValue: Value
    ) { update(ordering) { $0 ^ operand } }
}

extension SimulatedAtomic where Value == Bool {
    /// Whether both are true.
    @discardableResult
    public borrowing func logicalAnd(_ operand: Bool, ordering: AtomicUpdateOrdering) -> (
        oldValue: Bool, newValue: Bool
    ) { update(ordering) { $0 && operand } }

    /// Whether either is true.
    @discardableResult
    public borrowing func logicalOr(_ operand: Bool, ordering: AtomicUpdateOrdering) -> (
        oldValue: Bool, newValue: Bool
    ) { update(ordering) { $0 || operand } }

    /// Whether one of the two is true.
    @discardableResult
    public borrowing func logicalXor(_ operand: Bool, ordering: AtomicUpdateOrdering) -> (
        oldValue: Bool, newValue: Bool
    ) { update(ordering) { $0 != operand } }
}
