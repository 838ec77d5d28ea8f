internal import CPlatform
internal import Synchronization

/// A recursive lock around code: one thread at a time is inside, and that thread may enter again.
///
/// ```swift
/// let section = CriticalSection()
/// let total = section.execute { counter += 1; return counter }
/// ```
///
/// `execute` is equivalent to locking a recursive lock, running the body, and unlocking it,
/// whichever way the body is left: its value or its error comes through (law 14). What one thread
/// did inside happens before what the next one does there.
///
/// - Recursion: a thread that is inside runs the body at once, within the access that it has.
/// - Order: none is promised. A thread that arrives may overtake the waiters, since that keeps the
///   section busy. The first waiter is overtaken for a millisecond at most, the n-th for n
///   milliseconds (law 16).
/// - Priority: on Apple platforms the lock owner runs at the priority of a waiter without a time
///   limit, if that is higher. On Linux there is no priority inheritance.
/// - Deadlock: two threads deadlock if each is inside one section and enters the other's. Give all
///   code one order of entering, or use a time limit.
///
/// The section is a context: `execute` runs the job on the caller, inside. It is not a serial one,
/// since it promises no order and re-enters. To run the jobs of another context inside, use
/// `context.exclusive(section)`.
///
/// It is not for state that many threads mostly read: `ReadWriteCoordinator` lets them read side by
/// side. It is not for async code, since no thread may be blocked across an `await`.
public final class CriticalSection: Sendable {
    /// The name, for messages and tools.
    public let name: String
    @usableFromInline let lock = OwnedLock()
    @usableFromInline let entry = EntryLocation()

    /// Makes a section that no thread is inside.
    public init(name: String = "critical section") {
        self.name = name
        unsafe SimulationHooks.made(lock.owner, name)
    }

    /// Runs `body` with no other thread inside, and returns its value or throws its error (law 14).
    @inlinable
    public func execute<Value, Failure: Error>(
        fileID: StaticString = #fileID, line: UInt = #line, _ body: () throws(Failure) -> Value
    ) throws(Failure) -> Value {
        let thread = unsafe Threads.current
        if unsafe lock.isHeld(by: thread) { return try body() }
        // Without a limit, the wait ends inside.
        if unsafe !lock.tryEnter(thread, waits: true) { _ = unsafe lock.wait(thread, until: .max) }
        entry.write(fileID, line)
        defer { unsafe lock.leave(thread) }
        return try body()
    }

    /// Runs `body` like `execute` if the section is free in time, or runs nothing and returns nil
    /// (law 15).
    ///
    /// Zero and negative mean "only if it is free now". The limit is on the wait, not on the body.
    @inlinable
    public func execute<Value, Failure: Error>(
        timeout: Duration, fileID: StaticString = #fileID, line: UInt = #line,
        _ body: () throws(Failure) -> Value
    ) throws(Failure) -> Value? {
        try execute(before: TimeLimit.after(timeout), fileID, line, body)
    }

    @inlinable
    func execute<Value, Failure: Error>(
        before deadline: @autoclosure () -> Int64, _ fileID: StaticString, _ line: UInt,
        _ body: () throws(Failure) -> Value
    ) throws(Failure) -> Value? {
        let thread = unsafe Threads.current
        if unsafe lock.isHeld(by: thread) { return try body() }
        guard unsafe lock.tryEnter(thread) || lock.wait(thread, until: deadline()) else {
            return nil
        }
        entry.write(fileID, line)
        defer { unsafe lock.leave(thread) }
        return try body()
    }

    /// Runs `body` if the section is free within `seconds`, and returns whether it did (law 15).
    ///
    /// Zero and negative mean "only if it is free now". Infinity means no limit. NaN traps. New
    /// code uses `execute(timeout:)`, which takes a `Duration` and returns the body's value.
    @inlinable
    public func executeWithTimeout<Failure: Error>(
        _ seconds: Double, fileID: StaticString = #fileID, line: UInt = #line,
        _ body: () throws(Failure) -> Void
    ) throws(Failure) -> Bool {
        let limit = TimeLimit.checked(seconds: seconds, fileID: fileID, line: line)
        return try execute(before: TimeLimit.after(limit), fileID, line, body) != nil
    }

    /// Runs `body` as on a thread that is not simulated; nil if a thread is inside or waits.
    ///
    /// For what must not show in a schedule (law 33). Leaving would wake a simulated waiter outside
    /// of its schedule, so there must be none.
    package func look<Value>(_ body: () -> Value) -> Value? {
        SimulationHooks.outside {
            lock.hasWaiters ? nil : execute(timeout: .zero, body)
        }
    }

    /// The thread that is inside, for messages; nil if none is, and in release builds.
    public var owner: String? { entry.description(of: lock.holder) }
}

/// In debug builds, the source location where a section was entered.
@usableFromInline
struct EntryLocation: ~Copyable, Sendable {
    #if DEBUG
    // Relaxed: the record is for messages, which may show the entry before or after.
    private let place = Atomic<UInt64>(CodePlace.unknown.word)
    #endif

    init() {}

    @inlinable @inline(__always)
    borrowing func write(_ fileID: StaticString, _ line: UInt) {
        #if DEBUG
        record(fileID, line)
        #endif
    }

    #if DEBUG
    @usableFromInline
    borrowing func record(_ fileID: StaticString, _ line: UInt) {
        place.store(CodePlace(fileID, line).word, ordering: .relaxed)
    }
    #endif

    /// Describes the thread and where it entered, or nil if that is not known.
    borrowing func description(of thread: UInt32) -> String? {
        #if DEBUG
        let place = CodePlace(word: place.load(ordering: .relaxed))
        guard thread != 0, place != .unknown else { return nil }
        return "thread \(thread), which entered at \(place.call)"
        #else
        return nil
        #endif
    }
}

extension CriticalSection: SynchronousContext {
    // Disfavored: a plain `execute { }` is the generic one, whose body may change its captures.
    @_disfavoredOverload
    public func execute(_ work: @escaping Work) { execute { () throws(Never) -> Void in work() } }

    /// Runs `work` inside the section on the global queue, never on the caller inside the call.
    public func enqueue(_ work: consuming @escaping Work) {
        let work = MovedWork(consume work)
        GlobalContext().execute { self.execute(work.run) }
    }

    /// The same as `execute`: runs `body` on the caller, inside the section.
    public func sync<Value, Failure: Error>(
        _ body: () throws(Failure) -> Value
    ) throws(Failure) -> Value { try execute(body) }

    /// Whether the calling thread is inside; never unknown.
    public var isCurrent: Bool? { unsafe lock.isHeld(by: Threads.current) }

    public var facts: ContextFacts {
        var facts = ContextFacts()
        facts.meansThread = false
        return facts
    }
}

/// Runs the jobs of a view inside a section.
///
/// Not a `HoldableAddition`: a hold may end on another thread, and a section belongs to one.
public struct Exclusion: ContextAddition {
    let section: CriticalSection

    public func decorate(_ work: @escaping Work) -> Work {
        let work = MovedWork(work)
        return { [section] in section.execute(work.run) }
    }

    public func sync<Value, Failure: Error>(
        _ body: () throws(Failure) -> Value, on base: some SynchronousContext
    ) throws(Failure) -> Value {
        try base.sync { () throws(Failure) -> Value in try section.execute(body) }
    }

    public var facts: AdditionFacts {
        var facts = AdditionFacts()
        facts.needsThread = false
        facts.forecast = { [section] base, forecast in
            forecast.follow(base)
            // A base that the caller drives runs the job on the caller, which may enter again. A
            // base that starts no more jobs drops it.
            guard forecast.obstacle == nil, forecast.driver == nil, forecast.invalidated == nil,
                section.isCurrent == true
            else { return }
            forecast.obstruct(
                base.name, inside: "the section '\(section.name)', which its work must enter",
                until: "the caller has left that section")
        }
        return facts
    }
}

extension ContextAddition where Self == Exclusion {
    /// Each job of the context inside `section` (law 16).
    public static func exclusive(_ section: CriticalSection) -> Exclusion {
        Exclusion(section: section)
    }
}

extension ExecutionContext {
    /// This context, with each of its jobs inside `section` (law 16).
    ///
    /// A job blocks its thread while another thread is inside, so keep the section short.
    public func exclusive(_ section: CriticalSection) -> ContextView<Self, Exclusion> {
        with(.exclusive(section))
    }
}
