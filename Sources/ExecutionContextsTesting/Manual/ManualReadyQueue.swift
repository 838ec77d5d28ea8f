internal import ExecutionContexts

/// The ready jobs of one manual context, in order.
final class ManualReadyQueue: @unchecked Sendable {
    // Unchecked: `jobs` and `isOwned` are accessed only under the lock of the time that the
    // queue belongs to.

    struct Job {
        let work: Work
        /// Its position among all submissions under its time.
        let order: UInt64
        /// When it was submitted; for a delay, when it fired.
        let since: ContextInstant
        /// The delay that submitted it, if there is one.
        let delay: DelayedWork?
    }

    let name: String
    let isBackground: Bool
    /// Whether its context is alive.
    var isOwned = true
    private var jobs = FIFO<Job>()

    init(name: String, isBackground: Bool) {
        self.name = name
        self.isBackground = isBackground
    }

    var count: Int { jobs.count }

    var all: [Job] { jobs.all }

    /// The position of the oldest job.
    var firstOrder: UInt64? { jobs.first?.order }

    func append(_ job: Job) { jobs.append(job) }

    func popFirst() -> Job? { jobs.popFirst() }

    func takeAll() -> [Job] {
        defer { jobs = FIFO() }
        return all
    }
}

/// The time source of one manual context: the shared time, with the queue to which its delays
/// belong.
final class ManualReadyQueueTime: TimeSource {
    private let time: ManualTime
    private let queue: ManualReadyQueue

    init(_ time: ManualTime, of queue: ManualReadyQueue) {
        self.time = time
        self.queue = queue
    }

    var now: ContextInstant { time.now }

    var identity: ObjectIdentifier { time.identity }

    func add(_ delay: DelayedWork, tolerance: Duration) {
        time.add(delay, tolerance: tolerance, of: queue)
    }

    func remove(_ delay: DelayedWork) { time.remove(delay) }
}
