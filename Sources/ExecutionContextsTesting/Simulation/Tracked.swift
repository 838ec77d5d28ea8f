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
        if let host = HostThread.current, let log = host.scheduler?.log {
            log.makeTracked(Word(of: self), by: host.thread?.id ?? 0)
        }
    }

    /// The value. A read is one operation, a write another.
    public var value: Value {
        get { read(isPlain: false) }
        set { write(newValue, isPlain: false) }
    }

    /// Reads the value; a plain one is guarded by the program, or it is not.
    func read(isPlain: Bool) -> Value {
        HiddenFromSanitizer.begin()
        defer { HiddenFromSanitizer.end() }
        let trace = touch(.reads, isPlain)
        let value = stored.withLock { $0 }
        trace?.add { .reads(name, Self.text(value)) }
        if let scheduler = HostThread.current?.scheduler, scheduler.values != nil {
            scheduler.values?.append { [name] in
                Self.text(value).map { "'\(name)' is \($0)" }
            }
        }
        return value
    }

    func write(_ newValue: Value, isPlain: Bool) {
        // The old value is released outside of the lock.
        HiddenFromSanitizer.begin()
        let trace = touch(.writes, isPlain)
        let old = stored.withLock { stored in
            defer { stored = newValue }
            return stored
        }
        trace?.add { .writes(name, Self.text(old), Self.text(newValue)) }
        HiddenFromSanitizer.end()
        _ = old
    }

    /// The trace of the schedule that runs, and the thread that uses the value.
    private struct Use {
        let trace: SimulationTrace
        let thread: SimulatedThread

        func add(_ event: () -> SimulationTrace.TraceEvent) { trace.add(thread, event()) }
    }

    /// Passes a scheduling point; returns the trace, if there is one.
    private func touch(_ kind: Access.Kind, _ isPlain: Bool) -> Use? {
        guard let host = HostThread.current, let thread = host.thread,
            let scheduler = host.scheduler
        else { return nil }
        // No other thread may run while an invariant is checked.
        if scheduler.phase == .checking {
            scheduler.log?.check(Word(of: self))
            return nil
        }
        let intent = Intent(
            kind, Word(of: self), isPlain: isPlain,
            location: isPlain && scheduler.trace != nil ? CallerLocation() : nil)
        scheduler.point(thread, for: intent)
        if isPlain { scheduler.checkRace(thread, intent, name) }
        scheduler.log?.add(kind, Word(of: self))
        return scheduler.trace.map { Use(trace: $0, thread: thread) }
    }

    /// The value in words; nil for one whose description is code of the program, which could reach
    /// scheduling points.
    private static func text(_ value: Value) -> String? {
        let parts = String(reflecting: Value.self).split { "<>,() []".contains($0) }
        // A value of any type may have a description of the program's.
        let isAny = parts.contains {
            ["Swift.Error", "Swift.Sendable", "Swift.AnyHashable"].contains($0)
        }
        guard parts.allSatisfy({ $0.hasPrefix("Swift.") }), !isAny else { return nil }
        // Two sets of the same elements are told alike, whatever their order in memory.
        let isUnordered = parts.contains("Swift.Set") || parts.contains("Swift.Dictionary")
        let text = isUnordered ? ordered(value) : "\(value)"
        return text.count <= mostCharacters ? text : text.prefix(mostCharacters) + "..."
    }

    /// The description of a value of the standard library, with its sets and dictionaries in order.
    private static func ordered(_ value: Any) -> String {
        let mirror = Mirror(reflecting: value)
        let parts = mirror.children.map { ordered($0.value) }
        return switch mirror.displayStyle {
        case .set: "[" + parts.sorted().joined(separator: ", ") + "]"
        case .dictionary where parts.isEmpty: "[:]"
        case .dictionary: "[" + parts.sorted().joined(separator: ", ") + "]"
        case .collection: "[" + parts.joined(separator: ", ") + "]"
        // A dictionary has pairs of a key and a value.
        case .optional where parts.count == 1: "Optional(\(parts[0]))"
        case .tuple: parts.joined(separator: ": ")
        default: String(reflecting: value)
        }
    }

    private static var mostCharacters: Int { 60 }
}
