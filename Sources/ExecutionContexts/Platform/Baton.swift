internal import CPlatform

/// The turn of one thread of a simulation: it waits for it, and others pass it on.
///
/// The thread sanitizer does not see it, so that threads which only the simulator orders race in its eyes.
@safe package struct Baton: ~Copyable, Sendable {
    // Unsafe in name only: the word is touched by the two functions below, which change it atomically.
    nonisolated(unsafe) private let word: UnsafeMutablePointer<UInt32>

    package init() {
        unsafe word = .allocate(capacity: 1)
        unsafe word.initialize(to: 0)
    }

    deinit { unsafe word.deallocate() }

    /// Lets the thread that waits here go on.
    package borrowing func pass() { unsafe ec_turn_pass(word) }

    /// Waits until the turn comes; for the one thread that this belongs to.
    package borrowing func wait() { unsafe ec_turn_wait(word) }
}

/// What the simulator does between the two calls, the thread sanitizer does not look at.
///
/// Only who has the turn does it, and the sanitizer cannot know that (see `Baton`). The calls may nest.
package enum Unseen {
    package static func begin() { ec_unseen_begin() }
    package static func end() { ec_unseen_end() }

    /// Has the sanitizer look while `body` runs.
    package static func suspended(_ body: () -> Void) {
        let depth = ec_unseen_suspend()
        body()
        ec_unseen_resume(depth)
    }
}

/// The processor that the threads of one simulation share: a turn is then passed without waking another one.
package enum Processor {
    /// Keeps the calling thread to one processor, where the system lets it; the same number gives the same one.
    package static func pin(_ number: Int) { ec_pin(UInt32(truncatingIfNeeded: number)) }
}
