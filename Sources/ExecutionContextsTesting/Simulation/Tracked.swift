internal import ExecutionContexts

/// A variable whose reads and writes are scheduling points of a simulation.
///
/// A plain variable has none: in a simulation `count += 1` runs as a whole, though on real threads
/// it is a read and a write. With a tracked variable the simulation tries what may happen in
/// between:
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
        HostThread.current?.scheduler?.didMake(Word(of: self), name, isTracked: true)
    }

    /// The value. A read is one operation, a write another.
    public var value: Value {
        get { read(isPlain: false) }
        set { write(newValue, isPlain: false) }
    }

    /// Reads the value; `isPlain` if no atomic or lock of the library guards it.
    func read(isPlain: Bool) -> Value {
        HiddenFromSanitizer.begin()
        defer { HiddenFromSanitizer.end() }
        let trace = touch(.reads, isPlain)
        let value = stored.withLock { $0 }
        trace?.add { .reads(name, ValueText.of(value)) }
        if let scheduler = HostThread.current?.scheduler, scheduler.values != nil {
            scheduler.values?.append { [name] in
                ValueText.of(value).map { "'\(name)' is \($0)" }
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
        trace?.add { .writes(name, ValueText.of(old), ValueText.of(newValue)) }
        HiddenFromSanitizer.end()
        _ = old
    }

    /// The trace of the running schedule, and the thread that uses the value.
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
        scheduler.log?.add(kind, Word(of: self))
        scheduler.synchronizeTask(thread)
        if isPlain {
            scheduler.checkRace(thread, intent, name)
        } else {
            scheduler.memory?.use(kind, intent.word, by: thread.id)
        }
        return scheduler.trace.map { Use(trace: $0, thread: thread) }
    }
}
