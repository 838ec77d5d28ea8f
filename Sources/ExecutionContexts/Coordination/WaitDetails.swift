/// What a coordinator knows of a waiter: a thread, or an enqueued read.
struct WaitDetails {
    /// What the waiter waits for.
    enum Request { case exclusive, shared }

    let request: Request
    /// Whether the thread may help: run the writes that it waits for.
    var helps = false
    /// Whether the thread may also help once the write context has dropped its drain.
    var helpsWithDropped = false
    /// How many enqueued writes precede it.
    var position: UInt64 = 0
    /// Whether it has its wait forecast.
    private(set) var hasForeseen: Bool
    /// Whether it waits for the drain itself: the write context may have to be driven, or never
    /// run.
    private(set) var drives = false
    /// Whether it is in the wait queue; a waiter may try to enter before it joins.
    var isQueued = false
    /// Whether it is the first, and limits by the clock how long it is overtaken.
    var hasStarvationDeadline = false
    /// The read that waits without a thread, or nil for a thread.
    var job: Work?

    var isEnqueuedRead: Bool { job != nil }

    init(_ request: Request, for thread: ThreadRecord) {
        self.request = request
        // A simulation itself reports that no thread can continue.
        hasForeseen = unsafe SimulationHooks.simulation(of: thread) != nil
    }

    /// Notes the wait forecast: whether the waiter must drive the write context itself. Called
    /// before it joins the queue.
    mutating func foresee(_ mustDrive: Bool) {
        hasForeseen = true
        drives = mustDrive
    }
}

/// A waiter in place: on the stack of its thread, or in the block of an enqueued read.
typealias WaiterPointer = UnsafeMutablePointer<Waiter<WaitDetails>>
