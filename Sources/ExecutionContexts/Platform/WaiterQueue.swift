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
    private(set) var first: UnsafeMutablePointer<Waiter<Details>>?
    private var last: UnsafeMutablePointer<Waiter<Details>>?
    private(set) var count: UInt32 = 0

    var isEmpty: Bool { count == 0 }

    mutating func append(_ waiter: UnsafeMutablePointer<Waiter<Details>>) {
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

    mutating func remove(_ waiter: UnsafeMutablePointer<Waiter<Details>>) {
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
    func next(after waiter: UnsafeMutablePointer<Waiter<Details>>) -> UnsafeMutablePointer<
        Waiter<Details>
    >? {
        unsafe waiter.pointee.next
    }
}
