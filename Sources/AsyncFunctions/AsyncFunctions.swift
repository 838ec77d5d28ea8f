public import ExecutionContexts

/// The one concurrent context behind the functions of this module.
private let shared = BarrierQueueContext(label: "AsyncFunctions")

/// Runs `work` some time, beside other work.
///
/// Inside a type with a method of its own called `async` write `AsyncFunctions.async { }`.
public func async(_ work: @escaping Work) { shared.execute(work) }

/// Runs `work` when at least `delay` seconds have passed; infinity never comes (law 7).
///
/// - Returns: the waiting work, which can be cancelled until it starts.
@discardableResult
public func async(
    delay: Double, fileID: StaticString = #fileID, line: UInt = #line, _ work: @escaping Work
) -> DelayedWork {
    shared.schedule(after: delay, fileID: fileID, line: line, work)
}

/// Runs `work` when at least `delay` has passed (law 7).
///
/// - Returns: the waiting work, which can be cancelled until it starts.
@discardableResult
public func async(
    delay: Duration, fileID: StaticString = #fileID, line: UInt = #line, _ work: @escaping Work
) -> DelayedWork {
    shared.schedule(after: delay, fileID: fileID, line: line, work)
}

/// Runs `work` on the main queue, which is where the main actor runs.
///
/// The main queue is served by a run loop, by `dispatchMain()` and by an async `main` that awaits.
public func mainThread(_ work: @escaping @MainActor @Sendable () -> Void) {
    MainContext().execute(work)
}

/// Runs `work` on the main queue when at least `delay` seconds have passed; infinity never comes (law 7).
///
/// - Returns: the waiting work, which can be cancelled until it starts.
@discardableResult
public func mainThread(
    delay: Double, fileID: StaticString = #fileID, line: UInt = #line,
    _ work: @escaping @MainActor @Sendable () -> Void
) -> DelayedWork {
    MainContext().schedule(after: delay, fileID: fileID, line: line, work)
}

/// Runs `work` on the main queue when at least `delay` has passed (law 7).
///
/// - Returns: the waiting work, which can be cancelled until it starts.
@discardableResult
public func mainThread(
    delay: Duration, fileID: StaticString = #fileID, line: UInt = #line,
    _ work: @escaping @MainActor @Sendable () -> Void
) -> DelayedWork {
    MainContext().schedule(after: delay, fileID: fileID, line: line, work)
}

/// Runs `work` with no other work of these functions beside it (law 3).
///
/// What was given to `async` before has finished when it starts, and what is given to it after starts when it
/// has ended. The barrier is for the whole program: where that is too much, make a context with barriers of
/// its own by `.barrier(label:)`.
public func asyncBarrier(_ work: @escaping Work) { shared.executeBarrier(work) }
