internal import ExecutionContexts
public import Synchronization

/// An atomic whose operations are scheduling points, with the memory ordering that Swift guarantees
/// and no stronger one.
///
/// It has the operations of `Synchronization.Atomic`. One line makes a file use it:
///
/// ```swift
/// typealias Atomic = SimulatedAtomic
///
/// final class Mailbox: @unchecked Sendable {
///     @Shared private var letter = ""
///     private let isFull = Atomic(false)
///
///     func put(_ text: String) {
///         letter = text
///         isFull.store(true, ordering: .relaxed)                   // must be .releasing
///     }
///     var text: String? { isFull.load(ordering: .acquiring) ? letter : nil }
/// }
/// ```
///
/// In a simulation the schedule decides which value a load returns: the last one, or an earlier one
/// that the thread need not know to be overwritten. So the effects of weaker processors and of
/// compilers are searched, shrunk and replayed like the order of threads. `@Shared` variables are
/// checked for accesses that no atomic orders.
///
/// Outside of a simulation it is a variable behind a lock.
public struct SimulatedAtomic<Value: AtomicRepresentable>: ~Copyable {
    private let cell: AtomicCell<Value>

    /// Makes an atomic. Its name in the text of a failure is its place in the source.
    public init(
        _ initialValue: Value, fileID: StaticString = #fileID, line: UInt = #line
    ) {
        let file = "\(fileID)".split(separator: "/").last ?? ""
        cell = AtomicCell(initialValue, name: "\(file):\(line)")
    }

    /// Reads the value.
    public borrowing func load(ordering: AtomicLoadOrdering) -> Value {
        cell.load(MemoryOrder(ordering))
    }

    /// Replaces the value.
    public borrowing func store(_ desired: consuming Value, ordering: AtomicStoreOrdering) {
        cell.store(desired, MemoryOrder(ordering))
    }

    /// Replaces the value, and returns the old one.
    public borrowing func exchange(_ desired: consuming Value, ordering: AtomicUpdateOrdering)
        -> Value
    {
        let desired = desired
        return cell.update(MemoryOrder(ordering)) { _ in desired }.old
    }

    /// Replaces the value if it is `expected`.
    public borrowing func compareExchange(
        expected: consuming Value, desired: consuming Value, ordering: AtomicUpdateOrdering
    ) -> (exchanged: Bool, original: Value) {
        let order = MemoryOrder(ordering)
        return cell.exchange(expected, desired, order, failing: order.ofLoad, isWeak: false)
    }

    /// Replaces the value if it is `expected`, with one order for a success and one for a failure.
    public borrowing func compareExchange(
        expected: consuming Value, desired: consuming Value,
        successOrdering: AtomicUpdateOrdering, failureOrdering: AtomicLoadOrdering
    ) -> (exchanged: Bool, original: Value) {
        cell.exchange(
            expected, desired, MemoryOrder(successOrdering),
            failing: MemoryOrder(failureOrdering), isWeak: false)
    }

    /// Replaces the value if it is `expected`, or fails spuriously: for use in a loop.
    public borrowing func weakCompareExchange(
        expected: consuming Value, desired: consuming Value, ordering: AtomicUpdateOrdering
    ) -> (exchanged: Bool, original: Value) {
        let order = MemoryOrder(ordering)
        return cell.exchange(expected, desired, order, failing: order.ofLoad, isWeak: true)
    }

    /// Replaces the value if it is `expected`, or fails spuriously, with one order for a success
    /// and one for a failure.
    public borrowing func weakCompareExchange(
        expected: consuming Value, desired: consuming Value,
        successOrdering: AtomicUpdateOrdering, failureOrdering: AtomicLoadOrdering
    ) -> (exchanged: Bool, original: Value) {
        cell.exchange(
            expected, desired, MemoryOrder(successOrdering),
            failing: MemoryOrder(failureOrdering), isWeak: true)
    }

    /// Replaces the value, and returns the old and the new one.
    borrowing func update(_ ordering: AtomicUpdateOrdering, _ change: (Value) -> Value) -> (
        oldValue: Value, newValue: Value
    ) {
        let (old, new) = cell.update(MemoryOrder(ordering), change)
        return (old, new)
    }
}

extension SimulatedAtomic: Sendable where Value: Sendable {}

/// A memory fence between the operations of simulated atomics, as `atomicMemoryFence` is one
/// between those of real ones. Outside of a simulation it does nothing.
public func simulatedMemoryFence(ordering: AtomicUpdateOrdering) {
    HiddenFromSanitizer.begin()
    defer { HiddenFromSanitizer.end() }
    guard let scheduler = HostThread.current?.scheduler, let thread = scheduler.caller,
        scheduler.phase != .checking
    else { return }
    let order = MemoryOrder(ordering)
    scheduler.synchronizeTask(thread)
    if order.isTotal {
        scheduler.point(thread)
        scheduler.log?.add(.writes, .fences)
    }
    scheduler.usedMemory.fence(thread.id, order)
}

// For tests of code that parks threads itself.
extension SimulatedWorld {
    /// Makes all threads pass a fence, one after another, as the system's barrier does.
    package func passBarrier() {
        HiddenFromSanitizer.begin()
        defer { HiddenFromSanitizer.end() }
        guard let caller = scheduler.caller else { return }
        let others = scheduler.threads.filter { $0.id != caller.id }
        for thread in [caller] + others + [caller] {
            scheduler.point(caller)
            scheduler.log?.addAll()
            scheduler.usedMemory.fence(thread.id, .total)
        }
    }

    /// From here on a woken thread learns nothing from its waker.
    package func letWakesOrderNothing() { scheduler.usedMemory.wakesPassOn = false }
}
