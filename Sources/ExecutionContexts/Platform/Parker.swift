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
    /// Stored: when the thread is woken, it may have ended and another one may have its record.
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
    /// itself. `resumption` says how it continues afterwards.
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

/// A word on which one thread parks, and which keeps a wake-up that comes first.
///
/// For threads of the library outside of simulations: it is no scheduling point.
struct ParkWord: ~Copyable, Sendable {
    private let word = Atomic<UInt32>(0)

    /// Wakes the thread, or makes its next `park` return at once.
    borrowing func unpark() {
        // Releasing: the thread sees what the caller did.
        word.store(1, ordering: .releasing)
        unsafe withUnsafePointer(to: word) { unsafe ec_wake_one($0) }
    }

    /// Parks until a wake-up, and takes it (true), or until the monotonic clock shows `deadline`.
    @discardableResult
    borrowing func park(until deadline: Int64 = Parker.never) -> Bool {
        // Acquiring, here and below: see `unpark`.
        while word.load(ordering: .acquiring) == 0,
            deadline == Parker.never || MonotonicClock.nanoseconds < deadline
        {
            unsafe withUnsafePointer(to: word) { unsafe ec_wait($0, 0, deadline) }
        }
        return word.exchange(0, ordering: .acquiring) == 1
    }
}

/// One waiter: a thread, on whose stack this lives, or what has a block of its own.
@safe struct Waiter<Details> {
    /// The thread for which the calling thread waits: the one that is inside in the end.
    let thread: ThreadRecord
    /// Parks the thread that waits. Stored: a computed property would copy the whole waiter, which
    /// other threads change meanwhile.
    let parker: Parker
    /// When it began to wait, in nanoseconds.
    let since: Int64
    /// Whether it was woken and has not handled the wake-up yet.
    var isWoken = false
    /// Whether another thread has admitted it, and removed it from the wait queue.
    var isAdmitted = false
    /// What only the owner of the queue knows.
    var details: Details

    fileprivate var next: UnsafeMutablePointer<Waiter>?
    fileprivate var previous: UnsafeMutablePointer<Waiter>?

    init(_ thread: ThreadRecord, _ details: Details) {
        unsafe self.thread = thread
        parker = unsafe Parker(Threads.own)
        self.details = details
        since = unsafe SimulationHooks.now(thread)
        unsafe next = nil
        unsafe previous = nil
    }
}

/// Waiters in the order of their arrival; guarded by the owner of the queue.
@safe struct WaiterQueue<Details>: ~Copyable {
    typealias Pointer = UnsafeMutablePointer<Waiter<Details>>

    private(set) var first: Pointer?
    private var last: Pointer?
    private(set) var count: UInt32 = 0

    var isEmpty: Bool { count == 0 }

    mutating func append(_ waiter: Pointer) {
        unsafe waiter.pointee.next = nil
        unsafe waiter.pointee.previous = last
        if let last = unsafe last {
            unsafe last.pointee.next = waiter
        } else {
            unsafe first = waiter
        }
        unsafe last = waiter
        count += 1
    }

    mutating func remove(_ waiter: Pointer) {
        let (next, previous) = unsafe (waiter.pointee.next, waiter.pointee.previous)
        if let next = unsafe next {
            unsafe next.pointee.previous = previous
        } else {
            unsafe last = previous
        }
        if let previous = unsafe previous {
            unsafe previous.pointee.next = next
        } else {
            unsafe first = next
        }
        count -= 1
    }

    func next(after waiter: Pointer) -> Pointer? { unsafe waiter.pointee.next }
}
