internal import ExecutionContexts
internal import Foundation
internal import Synchronization

/// The values of one atomic of a simulated program.
///
/// Outside of a simulation it has one value.
final class AtomicCell<Value: AtomicRepresentable>: @unchecked Sendable {
    // Unchecked: the lock guards all, since two searches may share an atomic.

    /// A value that was stored in the schedule, with what it passes on to threads that acquire it.
    private struct Stored {
        let value: Value
        let carries: MemoryView
    }

    private let name: String
    private let lock = NSLock()
    private var last: Value
    /// For the thread sanitizer, which does not see other ordering of simulated threads.
    private let edge = Edge()
    /// The memory that the values below belong to, and the number of the atomic in it.
    private var memory = 0
    private var number = 0
    /// The latest values, and the number of the first of them.
    private var values: [Stored] = []
    private var first = 0
    /// For each thread, how often it has loaded the same overwritten value.
    private var returned: [Int: (value: Int, count: Int)] = [:]

    /// How many values are kept.
    private static var mostValues: Int { 8 }
    /// How often one thread may load the same overwritten value in a row: a store becomes visible
    /// eventually.
    private static var mostLoads: Int { 3 }

    init(_ value: Value, name: String) {
        (self.name, last) = (name, value)
        guard let scheduler = HostThread.current?.scheduler else { return }
        scheduler.didMake(Word(of: self), name, isTracked: true)
        // From here on the memory tracks the happens-before order.
        enter(scheduler.usedMemory)
    }

    // MARK: Operations

    /// A step of the schedule that runs; nil outside of one.
    private struct Step {
        let scheduler: SimulationScheduler
        let thread: SimulatedThread
        let memory: SimulatedMemory

        func tell(_ event: SimulationTrace.TraceEvent) { scheduler.trace?.add(thread, event) }
    }

    func load(_ order: MemoryOrder) -> Value {
        let use = begin(.reads, order)
        defer { end(use) }
        guard let step = use.step else { return last }
        let value = read(choose(step, order) { _ in true }, step, order).value
        step.tell(.reads(name, ValueText.of(value)))
        return value
    }

    func store(_ value: Value, _ order: MemoryOrder) {
        let use = begin(.writes, order)
        defer { end(use) }
        guard let step = use.step else { return last = value }
        step.tell(.writes(name, ValueText.of(values[values.count - 1].value), ValueText.of(value)))
        append(value, step, order, carrying: nil)
    }

    /// Replaces the value by another one, and returns both.
    func update(_ order: MemoryOrder, _ change: (Value) -> Value) -> (old: Value, new: Value) {
        let use = begin(.writes, order)
        defer { end(use) }
        guard let step = use.step else {
            let old = last
            last = change(old)
            return (old, last)
        }
        return replace(step, order, change)
    }

    /// Replaces the value if it is `expected`. A weak exchange may fail spuriously.
    func exchange(
        _ expected: Value, _ desired: Value, _ order: MemoryOrder, failing failure: MemoryOrder,
        isWeak: Bool
    ) -> (exchanged: Bool, original: Value) {
        let use = begin(.writes, order, failure)
        defer { end(use) }
        guard let step = use.step else {
            let original = last
            guard Self.areSame(original, expected) else { return (false, original) }
            last = desired
            return (true, original)
        }
        let latest = first + values.count - 1
        let isThere = Self.areSame(values[values.count - 1].value, expected)
        // It fails if the value differs, which may be an overwritten one. A weak exchange may fail
        // at any value.
        let chosen = choose(step, failure) { isWeak || !Self.areSame($0, expected) }
        let fails =
            !isThere || chosen != latest
            || isWeak
                && step.scheduler.decides(
                    "'\(name)' fails to change, without a reason", step.thread)
        guard !fails else {
            let found = read(chosen, step, failure).value
            step.tell(.reads(name, ValueText.of(found)))
            return (false, found)
        }
        return (true, replace(step, order) { _ in desired }.old)
    }

    // MARK: Values

    /// Reads the last value and stores one that also passes on what the last one did.
    private func replace(_ step: Step, _ order: MemoryOrder, _ change: (Value) -> Value) -> (
        old: Value, new: Value
    ) {
        let last = read(first + values.count - 1, step, order)
        let new = change(last.value)
        step.tell(.writes(name, ValueText.of(last.value), ValueText.of(new)))
        append(new, step, order, carrying: last.carries)
        return (last.value, new)
    }

    private func append(
        _ value: Value, _ step: Step, _ order: MemoryOrder, carrying inherited: MemoryView?
    ) {
        var carries = step.memory.willStore(
            first + values.count, of: number, by: step.thread.id, order)
        if let inherited { carries.join(inherited) }
        values.append(Stored(value: value, carries: carries))
        if values.count > Self.mostValues {
            values.removeFirst()
            first += 1
        }
        last = value
    }

    /// The number of the value that a load returns: the last one, or by chance one that the thread
    /// does not know to be overwritten.
    private func choose(
        _ step: Step, _ order: MemoryOrder, _ isAllowed: (Value) -> Bool
    ) -> Int {
        let (thread, latest) = (step.thread.id, first + values.count - 1)
        let oldest = max(step.memory.oldest(of: number, for: thread, order), first)
        var chosen = latest
        let before = returned[thread]
        for candidate in stride(from: latest - 1, through: oldest, by: -1) {
            if let before, before.value == candidate, before.count >= Self.mostLoads { continue }
            guard isAllowed(values[candidate - first].value) else { continue }
            if step.scheduler.decides("an earlier value of '\(name)'", step.thread) {
                chosen = candidate
                break
            }
        }
        returned[thread] =
            chosen == latest
            ? nil : (chosen, before?.value == chosen ? before!.count + 1 : 1)
        return chosen
    }

    /// A thread reads the value with this number.
    private func read(_ value: Int, _ step: Step, _ order: MemoryOrder) -> Stored {
        let stored = values[value - first]
        step.memory.didLoad(
            value, of: number, carrying: stored.carries, by: step.thread.id, order)
        return stored
    }

    /// One operation, from its beginning to its end.
    private struct Use {
        /// Whether a simulated thread performs it.
        let isInside: Bool
        /// Its step in the schedule; nil while a condition is checked.
        var step: Step?
    }

    /// Passes a scheduling point, if a thread of a schedule uses the atomic, and takes the lock.
    private func begin(_ kind: Access.Kind, _ orders: MemoryOrder...) -> Use {
        guard let host = HostThread.current, let thread = host.thread,
            let scheduler = host.scheduler
        else {
            lock.lock()
            return Use(isInside: false)
        }
        edge.release()
        HiddenFromSanitizer.begin()
        if scheduler.phase == .checking {
            scheduler.log?.check(Word(of: self))
            lock.lock()
            noteValue(scheduler)
            return Use(isInside: true)
        }
        scheduler.point(thread, for: Intent(kind, Word(of: self)))
        scheduler.log?.add(kind, Word(of: self))
        // A sequentially consistent fence orders all of them.
        if orders.contains(.total) { scheduler.log?.add(.reads, .fences) }
        let memory = scheduler.usedMemory
        scheduler.synchronizeTask(thread)
        lock.lock()
        if self.memory != memory.number { enter(memory) }
        return Use(
            isInside: true, step: Step(scheduler: scheduler, thread: thread, memory: memory))
    }

    private func end(_ use: Use) {
        lock.unlock()
        guard use.isInside else { return }
        HiddenFromSanitizer.end()
        edge.acquire()
    }

    /// Enters the memory of a schedule with its current value.
    private func enter(_ memory: SimulatedMemory) {
        (self.memory, number) = (memory.number, memory.makeAtomic())
        (first, returned) = (0, [:])
        values = [Stored(value: last, carries: MemoryView())]
    }

    /// Records the value for the message of a condition that does not hold.
    private func noteValue(_ scheduler: SimulationScheduler) {
        guard scheduler.values != nil else { return }
        let value = last
        scheduler.values?.append { [name] in ValueText.of(value).map { "'\(name)' is \($0)" } }
    }

    /// Whether two values have the same bits.
    private static func areSame(_ one: Value, _ other: Value) -> Bool {
        let one = Value.encodeAtomicRepresentation(one)
        let other = Value.encodeAtomicRepresentation(other)
        return unsafe withUnsafeBytes(of: one) { one in
            unsafe withUnsafeBytes(of: other) { unsafe one.elementsEqual($0) }
        }
    }
}
