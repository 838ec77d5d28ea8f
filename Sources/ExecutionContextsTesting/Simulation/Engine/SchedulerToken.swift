internal import CSimulation
internal import ExecutionContexts

/// The scheduler token of one simulated thread, which waits for it; other threads pass it.
///
/// The thread sanitizer does not see the token, so threads that only the scheduler orders race in
/// its eyes.
@safe struct SchedulerToken: ~Copyable, Sendable {
    // Unsafe in name only: only the two functions below touch the word, and they change it
    // atomically.
    nonisolated(unsafe) private let word: UnsafeMutablePointer<UInt32>

    init() {
        unsafe word = .allocate(capacity: 1)
        unsafe word.initialize(to: 0)
    }

    deinit { unsafe word.deallocate() }

    /// Lets the thread that waits here continue.
    borrowing func pass() { unsafe ecs_token_pass(word) }

    /// Waits for the token; for the one thread that this belongs to.
    borrowing func wait() { unsafe ecs_token_wait(word) }
}

/// Hides from the thread sanitizer what the scheduler does between the two calls.
///
/// Only the thread with the scheduler token does it, and the sanitizer cannot know that (see
/// `SchedulerToken`). The calls may nest.
enum HiddenFromSanitizer {
    static func begin() {
        // The sanitizer must see what orders the threads that use a record in turn.
        SimulationHooks.attachThread()
        ecs_ignore_begin()
    }

    static func end() { ecs_ignore_end() }

    /// Whether the scheduler runs on the calling thread, and no code of the program.
    static var isActive: Bool { ecs_ignores() }

    /// Lets the sanitizer look while `body` runs.
    static func suspended(_ body: () -> Void) {
        let depth = ecs_ignore_suspend()
        body()
        ecs_ignore_resume(depth)
    }
}
