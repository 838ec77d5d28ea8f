/// One waiter: a thread, on whose stack this lives, or a job, which has a block of its own.
@safe struct Waiter {
    /// What the waiter waits for.
    enum WaitRequest { case exclusive, shared }

    /// The thread for which the calling thread waits: the one that is inside in the end.
    let thread: ThreadRecord
    /// The thread that parks.
    private let sleeper: ThreadRecord
    let request: WaitRequest
    /// Whether the thread may help: run the jobs that it waits for.
    let helps: Bool
    /// Whether the thread may also help once the context has dropped its request to run those jobs.
    var helpsWithDropped = false
    /// How many enqueued writes precede it.
    var position: UInt64 = 0
    /// When it began to wait, in nanoseconds.
    let since: Int64
    /// Whether it has its wait forecast.
    private(set) var hasForeseen: Bool
    /// Whether it waits for the context's jobs itself: they may have to be driven, or never run.
    private(set) var drives = false
    /// Whether it was woken and has not handled the wake-up yet.
    var isWoken = false
    /// Whether it is in the wait queue; a waiter may try to enter before it joins.
    var isQueued = false
    /// Whether it is the first, and limits by the clock how long it is overtaken.
    var isTiming = false
    /// Whether another thread has admitted it, and removed it from the wait queue.
    var isAdmitted = false
    /// The job that waits without a thread, or nil for a thread.
    var job: Work?

    fileprivate var next: UnsafeMutablePointer<Waiter>?
    fileprivate var previous: UnsafeMutablePointer<Waiter>?

    init(_ thread: ThreadRecord, _ request: WaitRequest, helps: Bool = false) {
        unsafe self.thread = thread
        unsafe sleeper = Threads.own
        self.request = request
        self.helps = helps
        // A simulation itself reports that no thread can continue.
        hasForeseen = unsafe SimulationHooks.simulation(of: thread) != nil
        since = unsafe SimulationHooks.now(thread)
        unsafe next = nil
        unsafe previous = nil
    }

    var parker: Parker { unsafe Parker(sleeper) }

    /// Notes the wait forecast: whether the waiter must drive the context itself. Called before it
    /// joins the queue.
    mutating func foresee(_ mustDrive: Bool) {
        hasForeseen = true
        drives = mustDrive
    }
}

/// Waiters in the order of their arrival; guarded by the owner of the queue.
@safe struct WaiterQueue: ~Copyable {
    private(set) var first: UnsafeMutablePointer<Waiter>?
    private var last: UnsafeMutablePointer<Waiter>?
    private(set) var count: UInt32 = 0

    var isEmpty: Bool { count == 0 }

    mutating func append(_ waiter: UnsafeMutablePointer<Waiter>) {
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

    mutating func remove(_ waiter: UnsafeMutablePointer<Waiter>) {
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

    /// The waiter after this one.
    func next(after waiter: UnsafeMutablePointer<Waiter>) -> UnsafeMutablePointer<Waiter>? {
        unsafe waiter.pointee.next
    }
}
