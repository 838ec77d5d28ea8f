internal import CSimulation
internal import ExecutionContexts

/// The scheduler token of one simulated thread. That thread waits for it; others pass it.
///
/// The thread sanitizer does not see the token, so it reports races between threads that only the
/// scheduler orders.
@safe struct SchedulerToken: ~Copyable, Sendable {
    // Unsafe in name only: only the two functions below touch the word, and they change it
    // atomically.
    nonisolated(unsafe) private let word: UnsafeMutablePointer<UInt32>

    init() {
        unsafe word = .allocate(capacity: 1)
        unsafe word.initialize(to: 0)
    }

    deinit { unsafe word.deallocate() }

    /// Resumes the thread that waits here.
    borrowing func pass() { unsafe ecs_token_pass(word) }

    /// Waits for the token; only its owner may call this.
    borrowing func wait() { unsafe ecs_token_wait(word) }
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
