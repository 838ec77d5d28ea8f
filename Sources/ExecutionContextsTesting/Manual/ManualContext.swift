public import ExecutionContexts

/// A serial context that runs jobs only when the test calls it, in virtual time.
///
/// ```swift
/// let context = ManualContext()
/// let service = Service(on: context)
/// service.refresh()
/// context.advance(by: .seconds(30))
/// #expect(service.isStale)
/// ```
///
/// Its time may be its own or shared with other contexts. Views of it use that time, so no delay,
/// repetition or time limit on a view waits for the real clock (law 7). `clock` is that time for
/// async code, and `drive` runs such code to its end. Any thread may submit jobs at any time. One
/// thread at a time runs them, and a job must not run other jobs.
///
/// A pending delay, submission or task keeps the context alive, and the context keeps it alive.
/// `finish`, at the end of a test, reports and drops what is pending. Ready jobs do not run if the
/// last reference to the context is released.
public final class ManualContext: ActorBackingContext, SynchronousContext {
    public let name: String
    let manualTime: ManualTime
    let queue: ManualReadyQueue
    private let queueTime: ManualReadyQueueTime

    /// Creates a context.
    ///
    /// - Parameters:
    ///   - name: its name in messages.
    ///   - time: its time; by default a new one at zero. Contexts that share a time run in one
    ///     common order.
    ///   - isBackground: whether its jobs are background work, which `runUntilIdle` does not wait
    ///     for: a heartbeat, or endless polling.
    public init(
        name: String = "manual", time: ManualTime = ManualTime(), isBackground: Bool = false
    ) {
        self.name = name
        manualTime = time
        queue = ManualReadyQueue(name: name, isBackground: isBackground)
        queueTime = ManualReadyQueueTime(time, of: queue)
        time.open(queue)
    }

    deinit { manualTime.close(queue) }

    // MARK: ExecutionContext

    public func execute(_ work: consuming @escaping Work) {
        // Unmanaged, so that this frame holds no reference when another thread runs the work
        // (law 10).
        manualTime.submit(UnmanagedWork(consume work), to: queue)
    }

    /// True inside a job of this context, false elsewhere.
    public var isCurrent: Bool? { manualTime.isRunning(queue) }

    /// Runs the ready jobs, then `body`, and returns its value; in a job of the context it runs
    /// `body` at once.
    ///
    /// The waiting thread drives: it runs the ready jobs of this context itself, unless another
    /// thread is about to. A thread that waits for a view of this context does the same. Time does
    /// not advance.
    public func sync<Value, Failure: Error>(
        _ body: () throws(Failure) -> Value
    ) throws(Failure) -> Value {
        if isCurrent == true { return try body() }
        guard let result = AwaitedEnd.result(of: body, from: self, named: name, { execute($0) })
        else {
            stopMisuse(
                "'\(name)' dropped work that a thread was waiting for, since finish() ended the test (law 1). Call it last."
            )
        }
        return try result.get()
    }

    public var time: any TimeSource { queueTime }

    // MARK: Driving

    /// The current instant of this context's time. It starts at zero.
    public var now: ContextInstant { manualTime.now }

    /// Runs the oldest job that is due on this context; returns false if there is none. Time does
    /// not advance.
    @discardableResult
    public func step() -> Bool { manualTime.step(queue, name) }

    /// Runs the jobs that are due on this context, and those that become due by them; time does not
    /// advance.
    ///
    /// - Returns: how many jobs ran.
    @discardableResult
    public func runReady() -> Int { manualTime.runReady(queue, name) }

    /// Advances time by `duration` and runs, in order, every job that becomes due.
    public func advance(by duration: Duration) { advance(to: now.advanced(by: duration)) }

    /// Advances time to `instant` and runs, in order, every job that becomes due.
    ///
    /// Ready jobs run first. Each delay runs at its own deadline, which `now` returns meanwhile.
    /// Time never goes back: an earlier instant only runs the ready jobs. Contexts that share the
    /// time run, too.
    public func advance(to instant: ContextInstant) { manualTime.advance(to: instant, name) }

    /// Runs every job, advancing time from delay to delay, until only background work is pending.
    ///
    /// Contexts that share the time run, too.
    ///
    /// A context with an endless repetition never becomes idle. After `limit` jobs this method
    /// throws a ``ManualFailure`` that lists what is pending.
    ///
    /// - Returns: how many jobs ran.
    @discardableResult
    public func runUntilIdle(
        limit: Int = 100_000, fileID: StaticString = #fileID, line: UInt = #line
    ) throws -> Int {
        try manualTime.runUntilIdle(limit, name, "\(fileID):\(line)")
    }

    /// Advances time and runs nothing, as when the machine sleeps or a job takes long.
    ///
    /// A delay that becomes due meanwhile fires late, when the context next runs jobs. Any code may
    /// call it, jobs included.
    public func stall(for duration: Duration) { manualTime.stall(for: duration) }

    // MARK: Pending work

    /// How many jobs are ready to run.
    public var readyCount: Int { manualTime.readyCount(of: queue) }

    /// How many pending delays are set on it and on views of it.
    public var delayedCount: Int { manualTime.delayedCount(of: queue) }

    /// The pending work of this context and of its views: ready jobs, then delays, each in the
    /// order in which they would run.
    public var pending: [PendingWork] { manualTime.pending(of: queue) }

    /// Ends a test: drops all pending work, and throws a ``ManualFailure`` that lists it if there
    /// was any.
    ///
    /// ```swift
    /// let context = ManualContext()
    /// context.schedule(every: .seconds(1)) { print("tick") }.cancel()
    /// try context.finish()
    /// ```
    ///
    /// Both test libraries record an error that a test, or `tearDownWithError`, throws. It also
    /// drops background work, but does not list it. Contexts that share the time keep their work.
    public func finish(fileID: StaticString = #fileID, line: UInt = #line) throws {
        try manualTime.finish(self.queue, name, "\(fileID):\(line)")
    }
}

extension ManualContext {
    public var facts: ContextFacts {
        ContextFacts { [self] forecast in
            if isCurrent == true { return forecast.obstacle = name }
            forecast.driver = { [manualTime, queue] in manualTime.drive(queue, until: $0) }
        }
    }
}
