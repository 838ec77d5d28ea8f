internal import CPlatform
internal import Synchronization

/// How a thread waits for another one: it parks until it is unparked, which may come first.
///
/// Every primitive that blocks is a word that threads change atomically, a line of those who wait, and this.
/// Who waits says so in the line, looks at the word once more and parks; who changes the word takes one from the
/// line and unparks it. A thread may be unparked for no reason: it looks again and parks again.
@safe struct Parker {
    private let thread: ThreadRecord
    /// Known from the start: when the thread is woken it may have ended, and its record be another's.
    private let identifier: UInt32

    private static let empty: UInt32 = 0
    private static let token: UInt32 = 1
    private static let asleep: UInt32 = 2

    /// The deadline that never comes.
    static let never = Int64.max

    init(_ thread: ThreadRecord) {
        unsafe self.thread = thread
        unsafe identifier = ec_thread_identifier(thread)
    }

    /// Sleeps until the thread is unparked or the monotonic clock shows `deadline`; for the thread itself.
    ///
    /// `return` says how the thread of a pool goes on afterwards.
    func park(until deadline: Int64, then return: LentThread.Return = .atOnce) {
        if let simulation = unsafe Seam.simulation(of: thread) {
            _ = simulation.park(until: deadline)
            return
        }
        // Acquiring, here and below: what the waker did before is seen.
        if unsafe word.pointee.compareExchange(
            expected: Self.empty, desired: Self.asleep, successOrdering: .acquiring,
            failureOrdering: .acquiring
        ).exchanged {
            LentThread.waiting(then: `return`) {
                repeat {
                    unsafe ec_wait(word, Self.asleep, deadline)
                } while unsafe word.pointee.load(ordering: .acquiring) == Self.asleep
                    && Seam.now(thread) < deadline
            }
        }
        // Takes the token, if there is one.
        _ = unsafe word.pointee.exchange(Self.empty, ordering: .acquiring)
    }

    /// Lets the thread's `park` return: the one it is in, or the next.
    ///
    /// The wake-up goes through the simulation of the calling thread, for which `caller` may be
    /// another one's record.
    func unpark(by caller: ThreadRecord) {
        if let simulation = unsafe Seam.simulation(of: caller) {
            return (Seam.current ?? simulation).unpark(identifier)
        }
        // Releasing: the thread sees what the caller did before.
        if unsafe word.pointee.exchange(Self.token, ordering: .releasing) == Self.asleep {
            unsafe ec_wake_one(word)
        }
    }

    private var word: UnsafeMutablePointer<Atomic<UInt32>> {
        unsafe ec_thread_parked(thread).assumingMemoryBound(to: Atomic<UInt32>.self)
    }
}
