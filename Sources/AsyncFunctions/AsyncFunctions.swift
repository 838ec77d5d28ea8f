public import ExecutionContexts

/// The concurrent context behind the functions of this module.
let shared = BarrierQueueContext(name: "AsyncFunctions")

/// Runs `work` on a thread of the system, concurrently with other work.
///
/// Other work may overtake it. Call this from any thread, also from within such work.
///
/// ```swift
/// async { print("This runs beside what follows.") }
/// ```
///
/// Inside a type that has a method `async`, write `AsyncFunctions.async { }`.
public func async(_ work: consuming @escaping Work) {
    guard let substitutes = Substitutes.current else { return shared.execute(consume work) }
    substitutes.background.execute(substitutes.bound(consume work))
}

/// Runs `work` when at least `delay` seconds have passed; infinity means never (law 7).
///
/// Zero and negative values mean as soon as possible, huge values saturate, and NaN traps. For a
/// barrier the work counts as submitted when it is due (law 3).
///
/// - Returns: the delayed work, which can be cancelled until it starts. Discard it if it never is.
@discardableResult
public func async(
    delay: Double, fileID: StaticString = #fileID, line: UInt = #line,
    _ work: consuming @escaping Work
) -> DelayedWork {
    let delay = Duration.saturating(seconds: delay, fileID: fileID, line: line)
    return async(delay: delay, fileID: fileID, line: line, consume work)
}

/// Runs `work` when at least `delay` has passed (law 7).
///
/// Zero and negative values mean as soon as possible, and huge values saturate. For a barrier the
/// work counts as submitted when it is due (law 3).
///
/// - Returns: the delayed work, which can be cancelled until it starts. Discard it if it never is.
@discardableResult
public func async(
    delay: Duration, fileID: StaticString = #fileID, line: UInt = #line,
    _ work: consuming @escaping Work
) -> DelayedWork {
    guard let substitutes = Substitutes.current else {
        return shared.schedule(after: delay, fileID: fileID, line: line, consume work)
    }
    return substitutes.background.schedule(
        after: delay, fileID: fileID, line: line, substitutes.bound(consume work))
}

/// Runs `work` with no other work of these functions beside it (law 3).
///
/// Work passed to `async` earlier has finished when `work` starts, and work passed later starts
/// when `work` has ended. It does not delay closures for the main actor. The barrier is for the
/// whole program: where that is too much, create a separate context with barriers with
/// `.barrier(named:)`.
public func asyncBarrier(_ work: consuming @escaping Work) {
    guard let substitutes = Substitutes.current else { return shared.executeBarrier(consume work) }
    substitutes.background.executeBarrier(substitutes.bound(consume work))
}
