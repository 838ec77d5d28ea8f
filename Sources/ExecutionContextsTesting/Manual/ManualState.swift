internal import ExecutionContexts

/// The state of a manual time. It decides what to do; the caller does it outside the lock (law 9).
struct ManualState {
    /// One step: delays to fire, or else a job to run, or nothing.
    struct Step {
        var due: [DelayedWork] = []
        var job: ManualReadyQueue.Job?
    }

    var now = ContextInstant(nanoseconds: 0)
    var queues: [ManualReadyQueue] = []
    /// The thread that advances this time.
    struct Driver {
        let thread: UInt32
        /// Whether it drives only until a job that it waits for has ended.
        var isWaiter = false
    }

    var driver: Driver?
    /// Whether `UndrivenTimes` watches this time.
    var isWatched = false
    /// Notifies the caller that waits for a submission.
    var arrival: (@Sendable (Bool) -> Void)?
    /// Threads that wait for a job that this time, or another thread that drives it, runs.
    var waiters: [AwaitedEnd] = []
    private var delays = DelayHeap()
    private var lastOrder: UInt64 = 0
    private typealias Running = (queue: ManualReadyQueue, thread: UInt32)
    private var running: Running?
    /// The jobs inside which the driving thread runs jobs of another context, outermost first.
    private var outer: [Running?] = []
    private var firing: (delay: DelayedWork, thread: UInt32)?
    /// How many delays and ready jobs are pending, without background work.
    private(set) var foreground = 0

    /// Makes the caller drive this time, and returns nil; or returns the current driver.
    ///
    /// If that driver is another thread that waits for a job, it wakes `waiter` when it has
    /// finished driving.
    mutating func beginDriving(_ caller: UInt32, orWake waiter: AwaitedEnd) -> Driver? {
        guard let driver else {
            driver = Driver(thread: caller)
            return nil
        }
        if driver.isWaiter, driver.thread != caller { waiters.append(waiter) }
        return driver
    }

    // MARK: Submitting

    /// The waiters to notify, outside the lock, of a submission.
    struct Listeners {
        fileprivate(set) var arrival: (@Sendable (Bool) -> Void)?
        fileprivate(set) var waiters: [AwaitedEnd] = []

        func notify() {
            arrival?(true)
            for waiter in waiters { waiter.unpark() }
        }
    }

    mutating func takeListeners() -> Listeners {
        defer { waiters = [] }
        return Listeners(arrival: arrival.take(), waiters: waiters)
    }

    /// Appends a job to a queue; returns the waiters to notify.
    mutating func submit(_ work: @escaping Work, to queue: ManualReadyQueue) -> Listeners {
        lastOrder += 1
        // A delay that is firing submits on the same thread, perhaps through a view.
        let delay = firing.flatMap { $0.thread == SimulationHooks.caller ? $0.delay : nil }
        queue.append(.init(work: work, order: lastOrder, since: now, delay: delay))
        if !queue.isBackground { foreground += 1 }
        return takeListeners()
    }

    mutating func add(_ entry: DelayHeap.Entry) -> Listeners {
        lastOrder += 1
        delays.add(entry, order: lastOrder)
        if entry.isForeground { foreground += 1 }
        return takeListeners()
    }

    mutating func remove(_ delay: DelayedWork) -> DelayHeap.Entry? {
        let removed = delays.remove(delay)
        if removed?.isForeground == true { foreground -= 1 }
        return removed
    }

    // MARK: Running

    /// The next step of one queue, or of all; if nothing is due, time advances to the next delay,
    /// up to `limit`.
    mutating func next(_ only: ManualReadyQueue?, upTo limit: ContextInstant?) -> Step {
        clearRunning()
        while true {
            var step = Step()
            while let entry = delays.popDue(at: now) {
                if entry.isForeground { foreground -= 1 }
                step.due.append(entry.delay)
            }
            if let first = step.due.first {
                willFire(first)
                return step
            }
            if let queue = only ?? firstQueue, let job = queue.popFirst() {
                if !queue.isBackground { foreground -= 1 }
                if !queue.isOwned, queue.count == 0 { queues.removeAll { $0 === queue } }
                running = (queue, SimulationHooks.caller)
                step.job = job
                return step
            }
            guard let limit, let next = delays.next, next <= limit else { return step }
            now = max(now, next)
        }
    }

    /// Attributes every submission of this thread to `delay`, until the next step.
    mutating func willFire(_ delay: DelayedWork) { firing = (delay, SimulationHooks.caller) }

    /// Records that no job runs and no delay is firing.
    mutating func clearRunning() {
        running = nil
        firing = nil
    }

    func isRunning(_ queue: ManualReadyQueue) -> Bool {
        let caller = SimulationHooks.caller
        return (outer + [running]).contains { $0?.queue === queue && $0?.thread == caller }
    }

    /// Begins running jobs of another queue inside the current job, whose thread waits for one of
    /// them.
    mutating func beginNested() {
        outer.append(running)
        running = nil
    }

    mutating func endNested() { running = outer.removeLast() }

    private var firstQueue: ManualReadyQueue? {
        if queues.count == 1 { return queues[0] }
        return queues.min { ($0.firstOrder ?? .max) < ($1.firstOrder ?? .max) }
    }

    // MARK: Pending work

    /// How many delays of one queue are pending.
    func delayedCount(of queue: ManualReadyQueue) -> Int { delays.count { $0.queue === queue } }

    /// The position of the oldest ready job that is not background work, if no thread runs jobs.
    var oldestUndriven: UInt64? {
        guard driver == nil else { return nil }
        return queues.lazy.filter { !$0.isBackground }.compactMap(\.firstOrder).min()
    }

    var isEmpty: Bool { delays.isEmpty && queues.allSatisfy { $0.count == 0 } }

    /// The pending work of one queue, or of all.
    func pending(of only: ManualReadyQueue?) -> (
        ready: [(ManualReadyQueue.Job, ManualReadyQueue)], delays: [DelayHeap.Entry]
    ) {
        let ready = (only.map { [$0] } ?? queues).flatMap { queue in queue.all.map { ($0, queue) } }
        return (
            ready.sorted { $0.0.order < $1.0.order },
            delays.all.filter { only == nil || $0.queue === only }
        )
    }

    /// Removes and returns the pending work of one queue, or of all.
    mutating func takeAll(of only: ManualReadyQueue?) -> (
        ready: [ManualReadyQueue.Job], delays: [DelayHeap.Entry]
    ) {
        var jobs: [ManualReadyQueue.Job] = []
        for queue in only.map({ [$0] }) ?? queues {
            if !queue.isBackground { foreground -= queue.count }
            jobs += queue.takeAll()
        }
        let removed = delays.removeAll(of: only)
        foreground -= removed.count { $0.isForeground }
        return (jobs, removed)
    }
}

extension DelayHeap.Entry {
    var isForeground: Bool { queue?.isBackground != true }
}
