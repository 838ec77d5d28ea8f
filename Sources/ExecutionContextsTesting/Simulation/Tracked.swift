internal import ExecutionContexts

/// A variable whose reads and writes are scheduling points of a simulation.
///
/// A plain variable has none: in a simulation `count += 1` runs as a whole, though on real threads
/// it is a read and a write. With a tracked variable the simulation tries what may happen between
/// the two:
///
/// ```swift
/// try simulate("counting") { sim in
///     let count = Tracked(0, name: "count")
///     sim.spawn("alice") { count.value += 1 }
///     sim.spawn("bob") { count.value += 1 }
///     sim.finally("both counted") { count.value == 2 }
/// }
/// ```
///
/// Outside of a simulation it is a variable behind a lock, and `+=` is still a read and a write.
public final class Tracked<Value: Sendable>: Sendable {
    /// Its name in the text of a failure.
    public let name: String
    private let stored: Locked<Value>

    /// Creates a variable, with its name in the text of a failure.
    ///
    /// The name has no default: with one, a trailing closure would become the value, and never run.
    public init(_ value: Value, name: String) {
        stored = Locked(value)
        self.name = name
    }

    /// The value. A read is one operation, a write another.
    public var value: Value {
        get {
            touch(.reads(name))
            HiddenFromSanitizer.begin()
            defer { HiddenFromSanitizer.end() }
            return stored.withLock { $0 }
        }
        set {
            touch(.writes(name))
            // The old value is released outside of the lock.
            HiddenFromSanitizer.begin()
            let old = stored.withLock { stored in
                defer { stored = newValue }
                return stored
            }
            HiddenFromSanitizer.end()
            _ = old
        }
    }

    private func touch(_ event: SimulationTrace.TraceEvent) {
        guard let host = HostThread.current else { return }
        HiddenFromSanitizer.begin()
        // No other thread may run while an invariant is checked.
        if let thread = host.thread, let scheduler = host.scheduler, scheduler.phase != .checking {
            scheduler.point(thread)
            scheduler.trace?.add(thread, event)
        }
        HiddenFromSanitizer.end()
    }
}
