public import ExecutionContexts

/// Main without its overloads for closures of the main actor, since the closures are wrapped here.
private let main: some SerialContext = MainContext()

/// Runs `work` on the main actor, in the order of submission.
///
/// This is the main *queue*, which the main thread serves where it has a run loop. After
/// `dispatchMain()`, and in an async `main` that awaits, other threads serve it (law 4):
/// <doc:AsyncFunctions> has a table. While no thread serves it the work waits. Call it from any
/// thread; on main itself, too, it returns before `work` runs.
///
/// ```swift
/// async {
///     let total = (1...1_000).reduce(0, +)
///     mainThread { print(total) }
/// }
/// ```
public func mainThread(_ work: @escaping @MainActor @Sendable () -> Void) {
    guard let substitutes = Substitutes.current else {
        return main.execute { Substitutes.withoutAny(work) }
    }
    substitutes.main.execute(substitutes.bound(toMainActor: work))
}

/// Runs `work` on the main actor when at least `delay` seconds have passed; infinity means never
/// (law 7).
///
/// Zero and negative values mean as soon as possible, huge values saturate, and NaN traps. Work
/// that is due runs in the order of `(deadline, submission)`.
///
/// - Returns: the delayed work, which can be cancelled until it starts. Discard it if it never is.
@discardableResult
public func mainThread(
    delay: Double, fileID: StaticString = #fileID, line: UInt = #line,
    _ work: @escaping @MainActor @Sendable () -> Void
) -> DelayedWork {
    let delay = Duration.saturating(seconds: delay, fileID: fileID, line: line)
    return mainThread(delay: delay, fileID: fileID, line: line, work)
}

/// Runs `work` on the main actor when at least `delay` has passed (law 7).
///
/// Zero and negative values mean as soon as possible, and huge values saturate. Work that is due
/// runs in the order of `(deadline, submission)`.
///
/// - Returns: the delayed work, which can be cancelled until it starts. Discard it if it never is.
@discardableResult
public func mainThread(
    delay: Duration, fileID: StaticString = #fileID, line: UInt = #line,
    _ work: @escaping @MainActor @Sendable () -> Void
) -> DelayedWork {
    guard let substitutes = Substitutes.current else {
        return main.schedule(after: delay, fileID: fileID, line: line) {
            Substitutes.withoutAny(work)
        }
    }
    return substitutes.main.schedule(
        after: delay, fileID: fileID, line: line, substitutes.bound(toMainActor: work))
}
