/// The body of a job, which is freed before the caller gets its answer (law 10).
@usableFromInline
@_fixed_layout
final class SubmittedBody<Value: Sendable>: @unchecked Sendable {
    // Unchecked, also at run time: only the thread that runs the job accesses the body.
    @usableFromInline
    @exclusivity(unchecked) var body: (@Sendable () throws -> Value)?

    @inlinable
    init(_ body: @escaping @Sendable () throws -> Value) { unsafe self.body = body }

    /// Runs the body once, and frees it.
    @inlinable
    func run() -> Result<Value, any Error> {
        defer { unsafe body = nil }
        return outcome(of: unsafe body.unsafelyUnwrapped)
    }
}

/// Runs a body, and lets observers of the job know how it ended.
@inlinable
func outcome<Value>(of body: () throws -> Value) -> Result<Value, any Error> {
    do {
        let value = try body()
        noteEnd(nil)
        return .success(value)
    } catch {
        noteEnd(error)
        return .failure(error)
    }
}

@usableFromInline
func noteEnd(_ error: (any Error)?) { Frame.noteEnd(error) }

/// The body of a job that a task awaits, or what came of it.
///
/// A variable in a box of the caller's module, which knows its type. An object of a generic class
/// looks up the size of what it frees.
@frozen @usableFromInline
enum AwaitedBody<Value: Sendable> {
    case waiting(@Sendable () throws -> Value)
    case ended(Result<Value, any Error>)
    /// It has begun, or will never run.
    case none

    /// The body, once.
    @inlinable
    mutating func take() -> (@Sendable () throws -> Value)? {
        guard case .waiting(let body) = self else { return nil }
        self = .none
        return body
    }

    @inlinable
    var outcome: Result<Value, any Error>? {
        if case .ended(let outcome) = self { outcome } else { nil }
    }
}
