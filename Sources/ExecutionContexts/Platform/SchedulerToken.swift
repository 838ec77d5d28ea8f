internal import CPlatform

/// The scheduler token of one simulated thread, which waits for it; other threads pass it.
///
/// The thread sanitizer does not see the token, so threads that only the scheduler orders race in
/// its eyes.
@safe package struct SchedulerToken: ~Copyable, Sendable {
    // Unsafe in name only: only the two functions below touch the word, and they change it
    // atomically.
    nonisolated(unsafe) private let word: UnsafeMutablePointer<UInt32>

    package init() {
        unsafe word = .allocate(capacity: 1)
        unsafe word.initialize(to: 0)
    }

    deinit { unsafe word.deallocate() }

    /// Lets the thread that waits here continue.
    package borrowing func pass() { unsafe ec_token_pass(word) }

    /// Waits for the token; for the one thread that this belongs to.
    package borrowing func wait() { unsafe ec_token_wait(word) }
}

/// Hides from the thread sanitizer what the scheduler does between the two calls.
///
/// Only the thread with the scheduler token does it, and the sanitizer cannot know that (see
/// `SchedulerToken`). The calls may nest.
package enum HiddenFromSanitizer {
    package static func begin() { ec_tsan_ignore_begin() }
    package static func end() { ec_tsan_ignore_end() }

    /// Whether the scheduler runs on the calling thread, and no code of the program.
    package static var isActive: Bool { ec_tsan_ignores() }

    /// Lets the sanitizer look while `body` runs.
    package static func suspended(_ body: () -> Void) {
        let depth = ec_tsan_ignore_suspend()
        body()
        ec_tsan_ignore_resume(depth)
    }
}
