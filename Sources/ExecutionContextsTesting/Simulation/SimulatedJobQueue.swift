internal import ExecutionContexts

/// The queued jobs of one simulated context, and the simulated threads that run them.
///
/// With one thread it is a serial context, with many a pool. A job that is a barrier runs alone.
final class SimulatedJobQueue: @unchecked Sendable {
    // Unchecked: the thread that owns the scheduler token owns this object, except for the edges.

    struct Job {
        let run: () -> Void
        let isBarrier: Bool
        let caller: SimulatedThread?
        /// Makes the submitter's earlier writes visible to the job.
        let edge: Edge
        /// The step that has submitted it.
        var step: Int?
    }

    let name: String
    /// How many threads it may have.
    let width: Int
    private unowned let scheduler: SimulationScheduler
    private var jobs: [Job] = []
    private var workers: [SimulatedThread] = []
    private var active = 0
    private var isExclusive = false
    /// How many threads were woken for jobs that they have not yet taken.
    private var wokenCount = 0
    /// Make the writes of exclusive and of shared jobs visible to those jobs that may rely on them.
    private let afterExclusive = Edge()
    private let afterShared = Edge()

    init(_ name: String, width: Int, on scheduler: SimulationScheduler) {
        self.name = name
        self.width = width
        self.scheduler = scheduler
        scheduler.queues = scheduler.queues + [self]
        scheduler.didMake(Word(of: self), name)
    }

    var hasJobs: Bool { !jobs.isEmpty }

    /// Whether each of several threads has a job, and more are queued.
    var isFull: Bool { width > 1 && active == width && hasJobs }

    /// Queues a job. The caller owns the scheduler token.
    func submit(_ job: Job) {
        var job = job
        scheduler.log?.add(.writes, Word(of: self))
        job.step = scheduler.log?.cause(nil)
        pass(.releases)
        jobs.append(job)
        wakeWorkers()
    }

    /// How many of the queued jobs could start.
    private var startable: Int {
        guard let first = jobs.first, !isExclusive else { return 0 }
        if first.isBarrier { return active == 0 ? 1 : 0 }
        return min(jobs.prefix { !$0.isBarrier }.count, width - active)
    }

    /// Wakes threads for the jobs that could start.
    private func wakeWorkers() {
        let wanted = startable
        while wokenCount < wanted {
            if let idle = workers.first(where: { $0.state == .idle }) {
                scheduler.wake(idle)
            } else if workers.count < width && (scheduler.hasRoom || workers.isEmpty) {
                let threadName = width == 1 ? name : "\(name) #\(workers.count + 1)"
                guard
                    let worker = scheduler.add(
                        threadName, queue: self, { [unowned self] in serve() })
                else { return }
                workers.append(worker)
            } else {
                return
            }
            wokenCount += 1
        }
    }

    /// Whether a thread that has finished its body must run it again. (A submitter wakes idle
    /// threads.)
    func hasJob(for thread: SimulatedThread) -> Bool {
        guard startable > wokenCount else { return false }
        wokenCount += 1
        return true
    }

    private func serve() {
        HiddenFromSanitizer.begin()
        let thread = HostThread.current!.thread!
        wokenCount -= 1
        let job = startable > 0 ? jobs.removeFirst() : nil
        if let job {
            scheduler.log?.follow(job.step)
            noteOrder()
            pass(.acquires)
            active += 1
            isExclusive = job.isBarrier
            thread.running.append(
                .init(queue: self, isExclusive: job.isBarrier || width == 1, caller: job.caller))
            scheduler.trace?.add(thread, .begins(name))
            // The system may let a thread wait that has taken a job, so a later one begins first.
            if width > 1 && !job.isBarrier { scheduler.point(thread) }
        }
        HiddenFromSanitizer.end()
        guard let job else { return }
        run(job)
        HiddenFromSanitizer.begin()
        thread.running.removeLast()
        noteOrder()
        pass(.releases)
        active -= 1
        isExclusive = false
        wakeWorkers()
        HiddenFromSanitizer.end()
    }

    /// Of several threads, the order decides which of them has which job.
    private func noteOrder() {
        if width > 1 { scheduler.log?.add(.writes, Word(of: self)) }
    }

    /// What submitters and earlier jobs know of the memory, later jobs do.
    private func pass(_ kind: Access.Kind) {
        guard let memory = scheduler.memory, let thread = scheduler.caller else { return }
        memory.use(kind, Word(of: self), by: thread.id)
    }

    private func run(_ job: Job) {
        job.edge.acquire()
        afterExclusive.acquire()
        if job.isBarrier || width == 1 {
            afterShared.acquire()
            job.run()
            afterExclusive.release()
        } else {
            job.run()
            afterShared.release()
        }
    }

    /// Frees the queued jobs. The deinit of one may notify others, as the guard of a view's drain
    /// does.
    func close() {
        for job in jobs { job.edge.acquire() }
        (jobs, workers) = ([], [])
    }
}
