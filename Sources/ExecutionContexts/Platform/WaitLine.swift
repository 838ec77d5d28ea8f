/// One waiter of a lock or a coordinator: a thread, on whose stack this lives, or a job, which has a block of its own.
@safe struct Waiter {
    /// What the thread waits for.
    enum Wish { case exclusive, shared }

    /// For whom the calling thread waits: who is inside in the end.
    let thread: ThreadRecord
    /// The thread that sleeps.
    private let sleeper: ThreadRecord
    let wish: Wish
    /// Whether the thread may run the work of others that it waits for.
    let helps: Bool
    /// Whether the thread may run it where whoever should have run it has let go of it; for a coordinator.
    var helpsWithLost = false
    /// How many enqueued writes come before it; for a coordinator.
    var position: UInt64 = 0
    /// When it began to wait, in nanoseconds.
    let since: Int64
    /// Whether it has found out what the carrier can do while it waits; for a coordinator.
    private(set) var hasForeseen: Bool
    /// Whether it waits for turns of the carrier by itself: they have to be driven, or may never
    /// come.
    private(set) var drives = false
    /// Whether a wake-up was sent that it has not looked at yet.
    var isWoken = false
    /// Whether it stands in a line; for a coordinator, where one may look before it joins.
    var isInLine = false
    /// Whether it is the first and looks at the clock; for a coordinator.
    var isTiming = false
    /// Whether it has been let in, and taken from the line, by somebody else.
    var isIn = false
    /// The read that waits without a thread, or nil for a thread; for a coordinator.
    var job: Work?

    fileprivate var next: UnsafeMutablePointer<Waiter>?
    fileprivate var previous: UnsafeMutablePointer<Waiter>?

    init(_ thread: ThreadRecord, _ wish: Wish, helps: Bool = false) {
        unsafe self.thread = thread
        unsafe sleeper = Threads.own
        self.wish = wish
        self.helps = helps
        // A simulation says itself that no thread can go on.
        hasForeseen = unsafe Seam.simulation(of: thread) != nil
        since = unsafe Seam.now(thread)
        unsafe next = nil
        unsafe previous = nil
    }

    var parker: Parker { unsafe Parker(sleeper) }

    /// Notes whether the waiter must look after the carrier's turns itself; before it joins a line.
    mutating func foresee(_ mustDrive: Bool) {
        hasForeseen = true
        drives = mustDrive
    }
}

/// Those who wait, first come first; guarded by whoever owns it.
@safe struct WaitLine: ~Copyable {
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

    /// The one behind a waiter.
    func next(after waiter: UnsafeMutablePointer<Waiter>) -> UnsafeMutablePointer<Waiter>? {
        unsafe waiter.pointee.next
    }
}
