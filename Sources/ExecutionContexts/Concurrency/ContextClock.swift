/// The time of a context as a clock, for async code that sleeps. It fits wherever
/// `any Clock<Duration>` is wanted:
///
/// ```swift
/// func announce(on clock: any Clock<Duration>) async throws {
///     try await clock.sleep(for: .seconds(30))
/// }
///
/// Task { try await announce(on: context.clock) }
/// ```
///
/// Under a context with virtual time a sleep ends when that time advances, and waits for no real
/// clock (law 7). Sleeps are never early; under virtual time those with equal deadlines end in the
/// order in which they began.
public struct ContextClock: Clock, Sendable {
    public typealias Duration = Swift.Duration

    private let alarm: TimeContext

    /// Makes a clock over a time source; `name` stands for it in the lists of pending delays.
    public init(_ time: any TimeSource, name: String = "clock") {
        alarm = TimeContext(time: time, name: name)
    }

    public var now: ContextInstant { alarm.time.now }

    public var minimumResolution: Duration { .nanoseconds(1) }

    /// Suspends the task until `deadline`, or throws `CancellationError` as soon as the task is
    /// cancelled.
    ///
    /// A deadline that has passed is due at once, but the task is suspended all the same. A time
    /// source that drops the sleep, or is freed with it, cancels it: no task hangs (law 1). Called
    /// directly, it begins on the caller's actor; through a generic `Clock` the standard library's
    /// requirement decides where.
    public nonisolated(nonsending) func sleep(
        until deadline: ContextInstant, tolerance: Duration? = nil
    ) async throws {
        try Task.checkCancellation()
        let sleep = Sleep()
        try await withCancellationHandler {
            // Unsafe only if resumed twice or never; an awakening answers exactly once.
            try await unsafe withUnsafeThrowingContinuation { continuation in
                let awakening = unsafe CompletionGuard(Awakening(continuation: continuation))
                // No source location: that of the sleeping task is not known here.
                let delay = alarm.schedule(
                    at: deadline, tolerance: tolerance ?? .zero, from: .unknown
                ) { awakening.run() }
                // A delay that never comes is kept by no time source.
                sleep.begin(delay, isKept: deadline == .never)
            }
        } onCancel: {
            SimulationHooks.undivided { sleep.cancel() }
        }
    }
}

extension ExecutionContext {
    /// The time of this context as a clock, for async code that sleeps (law 7).
    public var clock: ContextClock { ContextClock(time, name: name) }
}

/// Connects a sleep's delay with its cancellation, which may come first.
private final class Sleep: Sendable {
    private struct State: ~Copyable {
        /// Weak, so that a time source that drops the delay frees its body, which resumes the task.
        weak var delay: DelayedWork?
        var kept: DelayedWork?
        var isCancelled = false
    }

    private let state = Guarded(State())

    func begin(_ delay: DelayedWork, isKept: Bool) {
        let isCancelled = state.withLock { state in
            state.delay = delay
            if isKept { state.kept = delay }
            return state.isCancelled
        }
        if isCancelled { delay.cancel() }
    }

    func cancel() {
        let delay = state.withLock { state in
            state.isCancelled = true
            return state.delay
        }
        // Outside the lock: it frees the awakening, which resumes the task (law 9).
        delay?.cancel()
    }
}

/// What a delay does for a sleeping task. A delay that is freed unused cancels the sleep.
@safe private struct Awakening: GuardedJob {
    let continuation: UnsafeContinuation<Void, any Error>

    func run() { unsafe continuation.resume() }

    func drop() { unsafe continuation.resume(throwing: CancellationError()) }
}

/// The time of a context without the context, for what resumes a task or must not wait for the
/// context: a due delay runs on the spot, except on the timer's thread (law 7).
struct TimeContext: ExecutionContext {
    let time: any TimeSource
    let name: String

    func execute(_ work: @escaping Work) { work() }

    func enqueue(_ work: consuming @escaping Work) {
        if SystemTime.isFiring { GlobalContext().enqueue(consume work) } else { work() }
    }
}
