internal import CSimulation
internal import ExecutionContexts

/// The scheduler token of one thread. That thread waits for it; others pass it.
///
/// The thread sanitizer does not see the token, so it reports races between threads that only the
/// scheduler orders.
@safe struct SchedulerToken: ~Copyable, Sendable {
    // Unsafe in name only: only the functions below use it, and they change it atomically.
    nonisolated(unsafe) private let token = unsafe ecs_token_new()

    deinit { unsafe ecs_token_free(token) }

    /// Resumes the thread that waits here.
    borrowing func pass() { unsafe ecs_token_pass(token) }

    /// Waits for the token; only its owner may call this.
    borrowing func wait() { unsafe ecs_token_wait(token) }

    /// Resumes the thread that waits at another token, and waits for this one; only its owner may
    /// call this.
    borrowing func change(to other: borrowing SchedulerToken) {
        unsafe ecs_token_change(token, other.token)
    }

    /// Makes the calling thread the owner. From now until `leave`, the system threads of other
    /// owners may run it. It blocks the signals of the search's thread.
    borrowing func adopt(blocking signals: UInt64) { unsafe ecs_token_adopt(token, signals) }

    borrowing func leave() { unsafe ecs_token_leave(token) }

    /// Whether one system thread can run several owners. `EXECUTION_CONTEXTS_SWITCHES=system` in
    /// the environment forbids it.
    static var mayChange: Bool { ecs_may_exchange() }
}

/// Hides from the thread sanitizer what the scheduler does between the two calls.
///
/// Only the owner of the scheduler token runs it, which the sanitizer cannot know (see
/// `SchedulerToken`). The calls may nest.
enum HiddenFromSanitizer {
    static func begin() {
        // The sanitizer must see what orders the threads that use a record one after another.
        SimulationHooks.attachThread()
        ecs_ignore_begin()
    }

    static func end() { ecs_ignore_end() }

    /// Whether the scheduler runs on the calling thread, rather than code of the program.
    static var isActive: Bool { ecs_ignores() }

    /// Shows the sanitizer what `body` does.
    static func suspended(_ body: () -> Void) {
        let depth = ecs_ignore_suspend()
        body()
        ecs_ignore_resume(depth)
    }
}
