internal import ExecutionContexts

/// A mutex that a simulation sees: taking it is a scheduling point, even where it is free.
///
/// It has the operations of `Synchronization.Mutex`, where a simulation sees only waiting threads.
/// One line makes a file use it:
///
/// ```swift
/// typealias Mutex = SimulatedMutex
///
/// final class Cache: Sendable {
///     private let stored = Mutex<[String: Int]>([:])
///
///     func value(for key: String, make: () -> Int) -> Int {
///         if let known = stored.withLock({ $0[key] }) { return known }
///         let made = make()                       // two threads may get here
///         stored.withLock { $0[key] = made }
///         return made
///     }
/// }
/// ```
///
/// Outside of a simulation it is a lock. A thread that takes it while holding it traps.
public struct SimulatedMutex<Value: ~Copyable>: ~Copyable, Sendable {
    private let section: CriticalSection
    private let box: Box

    /// Holds only the value: the thread sanitizer treats an access to it as one to the whole
    /// object.
    private final class Box: @unchecked Sendable {
        // Unchecked: the section guards the value.
        var value: Value
        init(_ value: consuming sending Value) { self.value = value }
    }

    /// Makes a mutex around a value. Its name in the text of a failure is its place in the source.
    public init(
        _ initialValue: consuming sending Value, fileID: StaticString = #fileID, line: UInt = #line
    ) {
        let file = "\(fileID)".split(separator: "/").last ?? ""
        section = CriticalSection(name: "\(file):\(line)")
        box = Box(initialValue)
    }

    /// Runs `body` with the value while no other thread holds the mutex.
    public borrowing func withLock<Result: ~Copyable, Failure: Error>(
        _ body: (inout sending Value) throws(Failure) -> sending Result
    ) throws(Failure) -> sending Result {
        refuseSecondEntry()
        // Unsafe in name only: `body` has sent it, and nothing here keeps it.
        nonisolated(unsafe) var result: Result?
        try section.execute { () throws(Failure) in unsafe result = try body(&box.value) }
        return unsafe result!
    }

    /// Runs `body` with the value if no thread holds the mutex, or returns nil.
    public borrowing func withLockIfAvailable<Result: ~Copyable, Failure: Error>(
        _ body: (inout sending Value) throws(Failure) -> sending Result
    ) throws(Failure) -> sending Result? {
        refuseSecondEntry()
        // Unsafe in name only, as above.
        nonisolated(unsafe) var result: Result?
        _ = try section.execute(timeout: .zero) { () throws(Failure) in
            unsafe result = try body(&box.value)
        }
        return unsafe result
    }

    private borrowing func refuseSecondEntry() {
        precondition(
            section.isCurrent != true,
            "The thread takes a SimulatedMutex that it already holds. A mutex is not recursive: use the value that 'withLock' passed, or a CriticalSection (law 33)."
        )
    }
}
