public import ExecutionContexts

/// The one concurrent context behind the functions of this module.
let shared = BarrierQueueContext(label: "AsyncFunctions")

/// Runs `work` some time, beside other work.
///
/// It runs on a thread of the system's, and other work may overtake it. Call this from any thread, also from within such
/// work.
///
/// ```swift
/// async { print("This runs beside what follows.") }
/// ```
///
/// Inside a type with a method of its own called `async` write `AsyncFunctions.async { }`.
public func async(_ work: @escaping Work) {
    guard let substitutes = Substitutes.current else { return shared.execute(work) }
    substitutes.background.execute(substitutes.bound(work))
}

/// Runs `work` when at least `delay` seconds have passed; infinity never comes (law 7).
///
/// Zero and less mean as soon as possible, huge values saturate, and not-a-number stops the program. For a barrier the
/// work counts as submitted when it is due (law 3).
///
/// - Returns: the waiting work, which can be cancelled until it starts; let it go if it never is.
@discardableResult
public func async(
    delay: Double, fileID: StaticString = #fileID, line: UInt = #line, _ work: @escaping Work
) -> DelayedWork {
    guard let substitutes = Substitutes.current else {
        return shared.schedule(after: delay, fileID: fileID, line: line, work)
    }
    return substitutes.background.schedule(
        after: delay, fileID: fileID, line: line, substitutes.bound(work))
}

/// Runs `work` when at least `delay` has passed (law 7).
///
/// Zero and less mean as soon as possible, and huge values saturate. For a barrier the work counts as submitted when it
/// is due (law 3).
///
/// - Returns: the waiting work, which can be cancelled until it starts; let it go if it never is.
@discardableResult
public func async(
    delay: Duration, fileID: StaticString = #fileID, line: UInt = #line, _ work: @escaping Work
) -> DelayedWork {
    guard let substitutes = Substitutes.current else {
        return shared.schedule(after: delay, fileID: fileID, line: line, work)
    }
    return substitutes.background.schedule(
        after: delay, fileID: fileID, line: line, substitutes.bound(work))
}

/// Runs `work` with no other work of these functions beside it (law 3).
///
/// What was given to `async` before has finished when it starts, and what is given to it after starts when it
/// has ended. Closures for the main actor are not held up. The barrier is for the whole program: where that is too
/// much, make a context with barriers of its own by `.barrier(label:)`.
public func asyncBarrier(_ work: @escaping Work) {
    guard let substitutes = Substitutes.current else { return shared.executeBarrier(work) }
    substitutes.background.executeBarrier(substitutes.bound(work))
}
