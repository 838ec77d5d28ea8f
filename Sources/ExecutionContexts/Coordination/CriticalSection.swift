/// Code that one thread at a time runs, and that a thread inside it may enter again.
///
/// ```swift
/// let section = CriticalSection()
/// let total = section.execute { counter += 1; return counter }
/// ```
///
/// `execute` is equivalent to locking a recursive lock, running the body, and unlocking it, whichever way the body
/// is left: its value or its error comes through (law 14). What one thread did inside has happened for the next.
///
/// - Recursion: a thread that is inside runs the body at once, as a part of what it is doing.
/// - Order: none is promised. A thread that arrives may overtake the waiters, since that keeps the section busy. The
///   first waiter is overtaken for a millisecond at most, the n-th for n milliseconds (law 16).
/// - Priority: on Apple platforms the holder runs at the priority of a waiter without a time limit, if that is higher.
///   On Linux the section lends no priority.
/// - Deadlock: two threads that hold one section each and want the other's wait for ever. Give all code one order
///   of entering, or use a time limit.
///
/// The section is a context: `execute` runs the work on the caller, inside. It is not a serial one, since it
/// promises no order and re-enters. To have the work of another context run inside, use
/// `context.exclusive(section)`.
///
/// It is not for state that many threads mostly read: `ReadWriteCoordinator` lets them read side by side. It is
/// not for async code: a thread must not be held across an `await`, so the body is synchronous.
public final class CriticalSection: Sendable {
    /// What people call it, in messages and in tools.
    public let name: String
    @usableFromInline let lock = OwnedLock()
    @usableFromInline let entry = EntryNote()

    /// Makes a section that nobody is inside.
    public init(name: String = "critical section") {
        self.name = name
        unsafe Seam.made(lock.owner, name)
    }

    /// Runs `body` with no other thread inside, and returns its value or throws its error (law 14).
    @inlinable
    public func execute<Value, Failure: Error>(
        fileID: StaticString = #fileID, line: UInt = #line, _ body: () throws(Failure) -> Value
    ) throws(Failure) -> Value {
        let thread = unsafe Threads.current
        if unsafe lock.isHeld(by: thread) { return try body() }
        // Without a limit, waiting ends inside.
        if unsafe !lock.tryEnter(thread) { _ = unsafe lock.wait(thread, until: .max) }
        entry.write(fileID, line)
        defer { unsafe lock.leave(thread) }
        return try body()
    }

    /// Runs `body` like `execute` if the section is free in time, or runs nothing and returns nil (law 15).
    ///
    /// Zero and negative mean "only if it is free now". The limit is one on waiting; the body takes what it takes.
    @inlinable
    public func execute<Value, Failure: Error>(
        timeout: Duration, fileID: StaticString = #fileID, line: UInt = #line,
        _ body: () throws(Failure) -> Value
    ) throws(Failure) -> Value? {
        try execute(before: TimeLimit.after(timeout), fileID, line, body)
    }

    /// Runs `body` like `execute` if the section is free within so many seconds, or runs nothing and returns nil.
    ///
    /// Zero and negative mean "only if it is free now", infinity means no limit; not-a-number stops the program
    /// (law 15).
    @inlinable
    public func execute<Value, Failure: Error>(
        timeout seconds: Double, fileID: StaticString = #fileID, line: UInt = #line,
        _ body: () throws(Failure) -> Value
    ) throws(Failure) -> Value? {
        let limit = TimeLimit.checked(seconds: seconds, fileID: fileID, line: line)
        return try execute(before: TimeLimit.after(limit), fileID, line, body)
    }

    @inlinable
    func execute<Value, Failure: Error>(
        before deadline: @autoclosure () -> Int64, _ fileID: StaticString, _ line: UInt,
        _ body: () throws(Failure) -> Value
    ) throws(Failure) -> Value? {
        let thread = unsafe Threads.current
        if unsafe lock.isHeld(by: thread) { return try body() }
        guard unsafe lock.tryEnter(thread) || lock.wait(thread, until: deadline()) else { return nil }
        entry.write(fileID, line)
        defer { unsafe lock.leave(thread) }
        return try body()
    }

    /// Runs `body` if the section is free within so many seconds, and returns whether it did (law 15).
    ///
    /// `execute(timeout:)` says the same, and returns the body's value.
    @inlinable
    public func executeWithTimeout<Failure: Error>(
        _ seconds: Double, fileID: StaticString = #fileID, line: UInt = #line,
        _ body: () throws(Failure) -> Void
    ) throws(Failure) -> Bool {
        try execute(timeout: seconds, fileID: fileID, line: line, body) != nil
    }

    /// Runs `body` if the section is free before the timeout, and returns whether it did (law 15).
    @inlinable
    public func executeWithTimeout<Failure: Error>(
        _ timeout: Duration, fileID: StaticString = #fileID, line: UInt = #line,
        _ body: () throws(Failure) -> Void
    ) throws(Failure) -> Bool {
        try execute(timeout: timeout, fileID: fileID, line: line, body) != nil
    }

    /// Who is inside now, for messages: nil if nobody is, and in release builds, which keep no record.
    public var holder: String? { entry.description(of: lock.holder) }
}
