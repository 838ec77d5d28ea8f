/// At most so many jobs at a time, and barriers: what `limited(to:)` and `barrier()` return.
///
/// Jobs wait in one queue. Each drain on the base, called a worker here, takes one job at a time
/// from the front, so that no job waits behind a blocked one. A worker that starts a job requests
/// another worker if the next job can start. So there are as many workers as there are jobs to run,
/// and never more than the width.
public class LimitedView: Drainer, BarrierContext, Limiter, @unchecked Sendable {
    // Unchecked for the superclass only: everything here is a sendable constant.
    let base: any ExecutionContext
    /// Computed once. The base gets drains, and so cannot bind anything to a job itself (law 8).
    public let submissionTransform: (@Sendable (_ work: @escaping Work) -> Work)?
    public let name: String
    private let state: Guarded<LimitedViewState>

    init(base: some ExecutionContext, width: Int, name: String) {
        self.base = base
        submissionTransform = base.submissionTransform
        self.name = name
        state = Guarded(LimitedViewState(width: width))
        super.init(over: base)
    }

    // Disfavored as that of every view: the compiler then prefers the more specific maker.
    @_disfavoredOverload
    public func execute(_ work: consuming @escaping Work) {
        if append(consume work, isBarrier: false) { requestDrain(on: base) }
    }

    public func enqueue(_ work: consuming @escaping Work) {
        if append(consume work, isBarrier: false) { requestDrainLater(on: base) }
    }

    public func executeBarrier(_ work: consuming @escaping Work) {
        if append(consume work, isBarrier: true) { requestDrain(on: base) }
    }

    @inline(__always)
    private final func append(_ work: consuming @escaping Work, isBarrier: Bool) -> Bool {
        // Unmanaged, so that no reference is counted under the lock.
        let work = UnmanagedWork(bound(consume work))
        return state.withLock { $0.append(work.assembled(), isBarrier: isBarrier) }
    }

    /// Yes inside this view's work, no elsewhere, except for law 4's one exception.
    public var isCurrent: Bool? { unsafe Frame.isCurrent(identity) }

    public var time: any TimeSource { base.time }

    public var facts: ContextFacts {
        var facts = ContextFacts()
        facts.meansThread = base.jobsMeanThread
        facts.forecast = { [self] forecast in
            if isCurrent == true { forecast.limiters.append(self) }
            forecast.follow(base)
        }
        return facts
    }

    final func jobWaits(for end: AwaitedEnd) -> Bool {
        let jobs = unsafe Frame.jobs(of: identity)
        return state.withLock { $0.beginWait(jobs, for: end) }
    }

    final func jobResumes(after end: AwaitedEnd) { state.withLock { $0.endWait(end) } }

    override var drainedName: String { name }

    override func drain() { runDrains(on: base) { runJobs() } }

    /// Runs jobs until none can start, or the budget is spent; false if another worker must be
    /// requested.
    private func runJobs() -> Bool {
        var budget = DrainBudget()
        var step = state.withLock { $0.startWorker() }
        while true {
            // A base that runs work on the caller runs the new worker inside the request. This
            // worker dismisses it and runs all the jobs, one after the other.
            if step.needsWorker, requestContinuation(on: base) {
                state.withLock { $0.dismissWorker() }
            }
            guard run(&step) else { return true }
            if budget.spend() {
                return !state.withLock { $0.retire(endingBarrier: step.isBarrier) }
            }
            step = state.withLock { $0.next(endingBarrier: step.isBarrier) }
        }
    }

    final var canStartJob: Bool { state.withLock { $0.canStart } }

    /// Runs the job of a step, and frees it before the step is recorded as ended (law 10); false if
    /// there is none.
    private func run(_ step: inout LimitedViewState.Step) -> Bool {
        guard Self.runAndFree(&step.work) else { return false }
        Frame.endJob()
        return true
    }

    private static func runAndFree(_ work: inout Work?) -> Bool {
        guard let work = work.take() else { return false }
        work()
        return true
    }

    override func drainWasDropped() {
        runDrops(on: base) {
            var dropped = state.withLock { $0.workerWasDropped() }
            if dropped.isEmpty { return false }
            // Freed outside the lock, beside no job: awaiting callers are refused (laws 1, 9, 10).
            unsafe Frame.enterJobs(of: identity) { _ = dropped.takeAll() }
            return state.withLock { $0.retire(endingBarrier: true) }
        }
    }
}

/// The queued and the running jobs of a limiter. A change that adds a job, or ends one, returns
/// whether the caller must request a worker.
private struct LimitedViewState: ~Copyable {
    // The members that every job changes come first, on one cache line with the lock. Those that
    // only barriers change are on the next cache line, and stay unshared.
    private var queue = WorkQueue()
    /// How many jobs run, each with its own worker.
    private var running: Int32 = 0
    private var isBarrierRunning = false
    /// Whether a worker was requested and has not come; at most one at a time.
    private var isWorkerRequested = false

    private let width: Int
    /// The positions of the queued barriers, and how many jobs have been dequeued: both counted
    /// from the time when no barrier was queued.
    private var barriers = FIFO<Int>()
    private var dequeued = 0

    /// Which running jobs wait for another job of the limiter.
    private var waitingJobs = WaitingJobs()

    struct Step {
        var work: Work?
        var isBarrier = false
        var needsWorker = false
    }

    init(width: Int) { self.width = width }

    mutating func append(_ work: consuming @escaping Work, isBarrier: Bool) -> Bool {
        if isBarrier {
            if barriers.first == nil { dequeued = 0 }
            barriers.append(dequeued + queue.count)
        }
        queue.append(work)
        return requestWorker()
    }

    /// Records that a requested worker has come.
    mutating func startWorker() -> Step {
        isWorkerRequested = false
        return take()
    }

    /// Records that a requested worker has come inside the request of another one, which runs the
    /// jobs.
    mutating func dismissWorker() { isWorkerRequested = false }

    /// Records that a worker has ended its job, and returns the next one.
    mutating func next(endingBarrier isBarrier: Bool) -> Step {
        end(isBarrier)
        return take()
    }

    /// Records that a worker has ended its job and leaves; true if another one must be requested.
    mutating func retire(endingBarrier isBarrier: Bool) -> Bool {
        end(isBarrier)
        return requestWorker()
    }

    /// Records that a requested worker was dropped. Without any other worker, returns all queued
    /// jobs: the caller frees them as a barrier, which it ends by `retire`.
    mutating func workerWasDropped() -> WorkQueue {
        isWorkerRequested = false
        guard running == 0, !queue.isEmpty else { return WorkQueue() }
        barriers = FIFO<Int>()
        running = 1
        isBarrierRunning = true
        return queue.takeAll()
    }

    /// Records that running jobs wait for another one; true if all of them do, and no job can start
    /// before one ends.
    mutating func beginWait(_ jobs: [UInt], for end: AwaitedEnd) -> Bool {
        let isBarrierNext = !queue.isEmpty && barriers.first == dequeued
        let isFull = isBarrierRunning || running >= width || isBarrierNext
        return waitingJobs.begin(jobs, for: end, reaching: isFull ? Int(running) : .max)
    }

    mutating func endWait(_ end: AwaitedEnd) { waitingJobs.end(end) }

    private mutating func end(_ isBarrier: Bool) {
        running -= 1
        if isBarrier { isBarrierRunning = false }
    }

    private mutating func take() -> Step {
        guard canStart, let work = queue.popFirst() else { return Step() }
        var isBarrier = false
        if let next = barriers.first {
            isBarrier = next == dequeued
            dequeued += 1
        }
        if isBarrier {
            _ = barriers.popFirst()
            isBarrierRunning = true
        }
        running += 1
        return Step(work: work, isBarrier: isBarrier, needsWorker: requestWorker())
    }

    private mutating func requestWorker() -> Bool {
        guard !isWorkerRequested, running < width, canStart else { return false }
        isWorkerRequested = true
        return true
    }

    /// Whether the first queued job may start.
    var canStart: Bool {
        if queue.isEmpty || isBarrierRunning { return false }
        return barriers.first == dequeued ? running == 0 : running < width
    }
}

extension ExecutionContext {
    /// Returns a view of this context that runs at most `limit` jobs at a time, started in order.
    ///
    /// The view makes no threads. It is not serial, even if the base is or the limit is 1: it does
    /// not exclude code that suspends (law 8), as `serial(named:)` does. A barrier of the view runs
    /// alone among the view's own jobs. A limit below 1 traps with a message.
    public func limited(to limit: Int, named name: String? = nil) -> LimitedView {
        require(
            limit >= 1,
            "A view of '\(self.name)' limited to \(limit) could never run anything (law 1). "
                + "The limit must be 1 or more.")
        return LimitedView(
            base: self, width: limit, name: name ?? "\(self.name).limited(\(limit))")
    }

    /// Returns a view of this context that keeps barriers (law 3).
    ///
    /// A barrier runs alone among the jobs of this view. The view does not see jobs that are
    /// submitted to the base directly. Jobs that are not barriers start in order, as many at a time
    /// as the base can run.
    public func barrier(named name: String? = nil) -> LimitedView {
        LimitedView(base: self, width: .max, name: name ?? "\(self.name).barrier")
    }
}

extension SerialContext {
    /// Returns this context: a serial context runs each job as a barrier already (law 3).
    public func barrier(named name: String? = nil) -> ContextView<Self, Naming> {
        named(name ?? self.name)
    }
}
