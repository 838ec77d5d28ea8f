/// The gate's state: who waits and who runs. Every change says whether a worker must be asked for.
struct GateLine: ~Copyable {
    // What every piece changes comes first: together with the lock it fits one line of memory, and what only
    // barriers change stays unshared in the next.
    private var waiting = WorkQueue()
    /// Pieces under way, each with a worker of its own.
    private var running: Int32 = 0
    private var barrierRuns = false
    /// Whether a worker was asked for and has not come; one at a time.
    private var isWorkerComing = false

    private let width: Int
    /// Where the barriers stand, counted from when none was waiting, and how many pieces have left since.
    private var barriers = PositionQueue()
    private var left = 0

    /// Which of the jobs under way wait for another one.
    private var waitingJobs = WaitingJobs()

    struct Step {
        var work: Work?
        var isBarrier = false
        var needsWorker = false
    }

    init(width: Int) { self.width = width }

    mutating func append(_ work: consuming @escaping Work, isBarrier: Bool = false) -> Bool {
        if isBarrier {
            if barriers.first == nil { left = 0 }
            barriers.append(left + waiting.count)
        }
        waiting.append(work)
        return callWorker()
    }

    /// A worker that was asked for has come.
    mutating func startWorker() -> Step {
        isWorkerComing = false
        return take()
    }

    /// A worker that was asked for has come where another one is, and leaves the work to that one.
    mutating func dismissWorker() {
        isWorkerComing = false
    }

    /// A worker has ended its piece and wants the next.
    mutating func next(endingBarrier isBarrier: Bool) -> Step {
        end(isBarrier)
        return take()
    }

    /// A worker has ended its piece and leaves; true if another must come.
    mutating func retire(endingBarrier isBarrier: Bool) -> Bool {
        end(isBarrier)
        return callWorker()
    }

    /// A worker that was asked for will never come. Without any other, what waits is lost: it is returned.
    ///
    /// Then the caller frees it as a barrier, which it ends by `retire`.
    mutating func workerWasLost() -> WorkQueue {
        isWorkerComing = false
        guard running == 0, !waiting.isEmpty else { return WorkQueue() }
        barriers = PositionQueue()
        running = 1
        barrierRuns = true
        return waiting.takeAll()
    }

    /// Jobs under way wait for another one; true if all do that are under way, and none can start
    /// before one of them ends.
    mutating func beginWait(_ jobs: [UInt], for end: AwaitedEnd) -> Bool {
        let isBarrierNext = !waiting.isEmpty && barriers.first == left
        let isFull = barrierRuns || running >= width || isBarrierNext
        return waitingJobs.begin(jobs, for: end, reaching: isFull ? Int(running) : .max)
    }

    mutating func endWait(_ end: AwaitedEnd) { waitingJobs.end(end) }

    private mutating func end(_ isBarrier: Bool) {
        running -= 1
        if isBarrier { barrierRuns = false }
    }

    private mutating func take() -> Step {
        guard canStart, let work = waiting.popFirst() else { return Step() }
        var isBarrier = false
        if let next = barriers.first {
            isBarrier = next == left
            left += 1
        }
        if isBarrier {
            barriers.removeFirst()
            barrierRuns = true
        }
        running += 1
        return Step(work: work, isBarrier: isBarrier, needsWorker: callWorker())
    }

    private mutating func callWorker() -> Bool {
        guard !isWorkerComing, running < width, canStart else { return false }
        isWorkerComing = true
        return true
    }

    /// Whether the first in line may start now.
    var canStart: Bool {
        if waiting.isEmpty || barrierRuns { return false }
        return barriers.first == left ? running == 0 : running < width
    }
}
