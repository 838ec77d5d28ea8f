internal import CPlatform
internal import Synchronization

/// Parks a thread until another thread unparks it, which may happen first.
///
/// Every primitive that blocks consists of a word that threads change atomically, a wait queue, and
/// a parker:
///
/// 1. A waiter joins the wait queue, checks the word once more, and parks.
/// 2. A thread that changes the word takes a waiter from the queue and unparks it.
/// 3. A thread may be unparked for no reason: it checks the word and parks again.
@safe struct Parker {
    private let thread: ThreadRecord
    /// Stored at the start: when the thread is woken it may have ended, and another thread may have
    /// its record.
    private let identifier: UInt32

    private static let empty: UInt32 = 0
    private static let token: UInt32 = 1
    private static let asleep: UInt32 = 2

    /// The deadline that never passes.
    static let never = Int64.max

    init(_ thread: ThreadRecord) {
        unsafe self.thread = thread
        unsafe identifier = ec_thread_identifier(thread)
    }

    /// Parks until the thread is unparked or the monotonic clock shows `deadline`; for the thread
    /// itself.
    ///
    /// `resumption` says how the thread continues afterwards.
    func park(until deadline: Int64, then resumption: BlockingScope.Resumption = .atOnce) {
        if let simulation = unsafe SimulationHooks.simulation(of: thread) {
            _ = simulation.park(until: deadline)
            return
        }
        // Acquiring, here and below: the thread sees what the waker did before.
        if unsafe word.pointee.compareExchange(
            expected: Self.empty, desired: Self.asleep, successOrdering: .acquiring,
            failureOrdering: .acquiring
        ).exchanged {
            BlockingScope.waiting(then: resumption) {
                repeat {
                    unsafe ec_wait(word, Self.asleep, deadline)
                } while unsafe word.pointee.load(ordering: .acquiring) == Self.asleep
                    && SimulationHooks.now(thread) < deadline
            }
        }
        // Takes the token, if there is one.
        _ = unsafe word.pointee.exchange(Self.empty, ordering: .acquiring)
    }

    /// Spins until the thread is unparked (true), or until `deadline`; for the thread itself, which
    /// then parks.
    func spin(until deadline: Int64) -> Bool {
        if unsafe SimulationHooks.simulation(of: thread) != nil { return false }
        repeat {
            for _ in 0..<16 {
                // Relaxed: `park` takes the token, and acquires.
                if unsafe word.pointee.load(ordering: .relaxed) == Self.token { return true }
                ec_relax()
            }
        } while unsafe SimulationHooks.now(thread) < deadline
        return false
    }

    /// Makes the thread's `park` return: the one that it is in, or the next.
    ///
    /// The wake-up goes through the simulation of the calling thread, for which `caller` may be the
    /// record of another thread.
    func unpark(by caller: ThreadRecord) {
        if let simulation = unsafe SimulationHooks.simulation(of: caller),
            (SimulationHooks.current ?? simulation).unpark(identifier)
        {
            return
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
