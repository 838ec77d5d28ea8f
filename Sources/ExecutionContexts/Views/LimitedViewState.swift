/// The state of a limiter: the queued and the running jobs.
///
/// Every change returns whether the caller must request a worker.
struct LimitedViewState: ~Copyable {
    // The members that every job changes come first, on one cache line with the lock. Those that
    // only barriers change are on the next cache line, and stay unshared.
    private var queue = WorkQueue()
    /// Running jobs, each with its own worker.
    private var running: Int32 = 0
    private var isBarrierRunning = false
    /// Whether a worker was requested and has not come; at most one at a time.
    private var isWorkerRequested = false

    private let width: Int
    /// The positions of the barriers in the queue, and how many jobs have been dequeued since.
    ///
    /// Positions are counted from the time when no barrier was queued.
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

    mutating func append(_ work: consuming @escaping Work, isBarrier: Bool = false) -> Bool {
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
    mutating func dismissWorker() {
        isWorkerRequested = false
    }

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
    /// jobs.
    ///
    /// The caller frees them as a barrier, which it ends by `retire`.
    mutating func workerWasDropped() -> WorkQueue {
        isWorkerRequested = false
        guard running == 0, !queue.isEmpty else { return WorkQueue() }
        barriers = FIFO<Int>()
        running = 1
        isBarrierRunning = true
        return queue.takeAll()
    }

    /// Records that running jobs wait for another one.
    ///
    /// Returns true if all running jobs wait, and no job can start before one of them ends.
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
