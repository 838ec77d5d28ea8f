internal import ExecutionContexts

/// A variable whose reads and writes are points at which a simulation may let another thread go on.
///
/// A plain variable has none: in a simulation `count += 1` runs as a whole, though on real threads it is a read and a write.
/// With a tracked one the simulation tries what comes between:
///
/// ```swift
/// try simulate("counting") { sim in
///     let count = Tracked(0, "count")
///     sim.spawn("alice") { count.value += 1 }
///     sim.spawn("bob") { count.value += 1 }
///     sim.finally("both counted") { count.value == 2 }
/// }
/// ```
///
/// Outside of a simulation it is a variable behind a lock, and `+=` still a read and a write.
public final class Tracked<Value: Sendable>: Sendable {
    /// What it is called, in the text of a failure.
    public let name: String
    private let stored: Locked<Value>

    /// Makes a variable; the name says which it is in the text of a failure.
    ///
    /// The name has no default: with one, a trailing closure would become the value, and never run.
    public init(_ value: Value, _ name: String) {
        stored = Locked(value)
        self.name = name
    }

    /// The value. Reading it is one operation, writing it another.
    public var value: Value {
        get {
            touch(.reads(name))
            Unseen.begin()
            defer { Unseen.end() }
            return stored.withLock { $0 }
        }
        set {
            touch(.writes(name))
            // What was there before is freed outside of the lock.
            Unseen.begin()
            let old = stored.withLock { stored in
                defer { stored = newValue }
                return stored
            }
            Unseen.end()
            _ = old
        }
    }

    private func touch(_ deed: Chronicle.Deed) {
        guard let thread = LaneThread.current else { return }
        Unseen.begin()
        // While an invariant is asked, nobody else can have the turn.
        if let lane = thread.lane, let stage = thread.stage, stage.phase != .asking {
            stage.point(lane)
            stage.chronicle?.add(lane, deed)
        }
        Unseen.end()
    }
}
