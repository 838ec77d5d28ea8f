public import ExecutionContexts

/// A serial context that runs nothing until it is told to, in a time of its own or one that it shares.
///
/// ```swift
/// let context = ManualContext()
/// let service = Service(on: context)
/// service.refresh()
/// context.advance(by: .seconds(30))
/// #expect(service.isStale)
/// ```
///
/// Views of it take its time with them, so no delay, repeat or time limit under it waits for the real clock
/// (law 7); `clock` is that time for async code, and `drive` runs such code to its end. Work may be submitted from any
/// thread at any time; one thread at a time runs it, and never from within that work.
///
/// A delay, a submission or a task that is pending keeps the context alive, as the context keeps it: `finish`, at the end
/// of a test, says what is left and lets go of it. Plain work that is ready when the last reference goes does not run.
public final class ManualContext: ActorBackingContext, SynchronousContext {
    public let name: String
    let manualTime: ManualTime
    let line: ManualLine
    private let lineTime: ManualLineTime

    /// Makes a context.
    ///
    /// - Parameters:
    ///   - name: what it is called in messages.
    ///   - time: its time, which stands at zero and is its own if you pass none. Contexts that share one run in one order.
    ///   - isBackground: whether its work keeps nobody from being idle: for a heartbeat, or what polls for ever.
    public init(name: String = "manual", time: ManualTime = ManualTime(), isBackground: Bool = false) {
        self.name = name
        manualTime = time
        line = ManualLine(name: name, isBackground: isBackground)
        lineTime = ManualLineTime(time, of: line)
        time.open(line)
    }

    deinit { manualTime.close(line) }

    // MARK: Being a context

    public func execute(_ work: @escaping Work) { manualTime.submit(work, to: line) }

    /// Yes inside the work that it runs, no elsewhere.
    public var isCurrent: Bool? { manualTime.isRunning(line) }

    /// Runs what is ready before, then `body`, and returns what it returns; from the context's own
    /// work it runs at once.
    ///
    /// A thread that waits drives: it runs the ready work of this context itself, unless another
    /// thread is about to. So does one that waits for a view of this context. Time stands still.
    public func sync<Value, Failure: Error>(
        _ body: () throws(Failure) -> Value
    ) throws(Failure) -> Value {
        if isCurrent == true { return try body() }
        guard let result = AwaitedEnd.result(of: body, from: self, named: name, { execute($0) }) else {
            stopMisuse(
                "'\(name)' dropped work that a thread was waiting for, since finish() ended the test (law 1). Call it last."
            )
        }
        return try result.get()
    }

    public var time: any TimeSource { lineTime }

    // MARK: Being told

    /// The present, in this context's time. It starts at zero.
    public var now: Moment { manualTime.now }

    /// Runs the oldest piece that is due now on this context; false if there is none. Time stands still.
    @discardableResult
    public func step() -> Bool { manualTime.step(line, name) }

    /// Runs what is due now on this context, and what becomes due by it, until nothing is; time stands still.
    ///
    /// - Returns: how many pieces ran.
    @discardableResult
    public func runReady() -> Int { manualTime.runReady(line, name) }

    /// Moves time on by `duration` and runs, in order, everything that becomes due on the way.
    public func advance(by duration: Duration) { advance(to: now.advanced(by: duration)) }

    /// Moves time on to `moment` and runs, in order, everything that becomes due on the way.
    ///
    /// Work that is ready runs first. Each delay runs at its own deadline: `now` says so while it does. Time
    /// does not go back: an earlier moment only runs what is ready. Contexts that share the time run as well.
    public func advance(to moment: Moment) { manualTime.advance(to: moment, name) }

    /// Runs everything, moving time on from one delay to the next, until nothing but background work is pending.
    ///
    /// Contexts that share the time run as well.
    ///
    /// With something that always repeats it is never idle: after `limit` pieces it throws a ``ManualFailure`` that says
    /// what is pending.
    ///
    /// - Returns: how many pieces ran.
    @discardableResult
    public func runUntilIdle(
        limit: Int = 100_000, fileID: StaticString = #fileID, line: UInt = #line
    ) throws -> Int {
        try manualTime.runUntilIdle(limit, name, "\(fileID):\(line)")
    }

    /// Moves time on and runs nothing, as when the machine is asleep or a piece of work takes long.
    ///
    /// What becomes due meanwhile comes late, when the context is next told to run. It may be called anywhere, from
    /// within work too.
    public func stall(for duration: Duration) { manualTime.stall(for: duration) }

    // MARK: What is pending

    /// How many pieces of work are ready to run.
    public var readyCount: Int { manualTime.readyCount(of: line) }

    /// How many delays are set on it, and on views of it, that have not come.
    public var delayedCount: Int { manualTime.delayedCount(of: line) }

    /// What is pending on it and on views of it: what is ready, then what waits, in the order in which it would run.
    public var pending: [PendingWork] { manualTime.pending(of: line) }

    /// Ends a test: lets go of everything that is pending, and throws a ``ManualFailure`` that lists it if anything was.
    ///
    /// ```swift
    /// let context = ManualContext()
    /// context.repeat(every: .seconds(1)) { print("tick") }.cancel()
    /// try context.finish()
    /// ```
    ///
    /// Both test libraries record an error that a test, or `tearDownWithError`, throws. Background work is let go of
    /// too, and not listed; contexts that share the time keep theirs.
    public func finish(fileID: StaticString = #fileID, line: UInt = #line) throws {
        try manualTime.finish(self.line, name, "\(fileID):\(line)")
    }
}

extension ManualContext: DrivenContext, ForeseeingContext {
    package func foresee(_ outlook: inout Outlook) {
        isCurrent == true ? outlook.obstacle = name : (outlook.driver = self)
    }

    package func drive(until end: AwaitedEnd) { manualTime.drive(line, until: end) }
}
