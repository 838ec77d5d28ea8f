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
        /// Its label, if the schedule is traced.
        var label: String?
        /// The step that submitted it.
        var step: Int?
        /// The thread that waits to run it itself; nil for a job of the queue's own threads.
        var entrant: Entrant?
    }

    /// A thread that waits until it may run its own job.
    final class Entrant {
        let thread: SimulatedThread
        var mayRun = false
        init(_ thread: SimulatedThread) { self.thread = thread }
    }

    let name: String
    /// How many threads it may have.
    let width: Int
    /// The word that identifies it in the schedule.
    let word: Word?
    /// The actor whose jobs exclude this queue's jobs; zero for none.
    let isolation: UInt
    /// Whether no job may begin now.
    private let isHeld: (() -> Bool)?
    private unowned let scheduler: SimulationScheduler
    private var jobs: [Job] = []
    private var workers: [SimulatedThread] = []
    private var active = 0
    private var isExclusive = false
    /// How many threads were woken for jobs that they have not yet taken.
    private var wokenCount = 0
    /// Make the writes of exclusive and of shared jobs visible to the jobs that may rely on them.
    private let afterExclusive = Edge()
    private let afterShared = Edge()

    init(_ name: String, width: Int, on scheduler: SimulationScheduler) {
        self.name = name
        self.width = width
        self.scheduler = scheduler
        (word, isolation, isHeld) = (nil, 0, nil)
        scheduler.queues = scheduler.queues + [self]
        scheduler.didMake(Word(of: self), name)
    }

    /// For a Dispatch queue, which the schedule knows by its word.
    init(
        _ name: String, width: Int, for queue: SystemQueue, isolation: UInt,
        on scheduler: SimulationScheduler
    ) {
        self.name = name
        self.width = width
        self.scheduler = scheduler
        word = queue.word
        self.isolation = isolation
        isHeld = { queue.isSuspended }
        scheduler.queues = scheduler.queues + [self]
    }

    private var ownWord: Word { word ?? Word(of: self) }

    var hasJobs: Bool { !jobs.isEmpty }

    /// Whether each of several threads has a job, and more are queued.
    var isFull: Bool { width > 1 && active >= width && hasJobs }

    /// Whether it has no job, and no thread runs one.
    var isIdle: Bool { active == 0 && jobs.isEmpty }

    /// Queues a job. The caller owns the scheduler token.
    func submit(_ job: Job) {
        var job = job
        scheduler.log?.add(.writes, ownWord)
        job.step = scheduler.log?.cause(nil)
        pass(.releases)
        jobs.append(job)
        wakeWorkers()
    }

    /// How many of the queued jobs could start.
    private var startable: Int {
        guard let first = jobs.first, !isExclusive, isHeld?() != true else { return 0 }
        if first.isBarrier { return active == 0 ? 1 : 0 }
        return min(jobs.prefix { !$0.isBarrier }.count, width - active)
    }

    /// Wakes threads for the jobs that could start.
    func wakeWorkers() {
        if entrantCount > 0 { admitEntrants() }
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

    /// Whether a thread that has finished its body must run it again. (Submitters wake only idle
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
            if isolation != 0 { scheduler.tasks.enterActor(isolation, thread) }
            noteOrder()
            pass(.acquires)
            active += 1
            isExclusive = job.isBarrier
            thread.running.append(
                .init(queue: self, isExclusive: job.isBarrier || width == 1, caller: job.caller))
            scheduler.trace?.add(thread, .begins(name, label: job.label))
            // The system may delay a thread that has taken a job, so a later job may begin first.
            if width > 1 && !job.isBarrier { scheduler.point(thread) }
        }
        HiddenFromSanitizer.end()
        guard let job else { return }
        run(job)
        HiddenFromSanitizer.begin()
        thread.running.removeLast()
        if isolation != 0 { scheduler.tasks.leaveActor(thread) }
        didEnd()
        HiddenFromSanitizer.end()
    }

    /// Ends a job.
    private func didEnd() {
        noteOrder()
        pass(.releases)
        active -= 1
        isExclusive = false
        wakeWorkers()
    }

    // MARK: Threads that run their own jobs

    /// How many threads wait to run their own jobs.
    private var entrantCount = 0

    /// Waits until the thread may run its own job in the queue.
    func enter(_ thread: SimulatedThread, isBarrier: Bool) {
        scheduler.log?.add(.writes, ownWord)
        let isFree =
            isHeld?() != true && !isExclusive
            && (isBarrier || width == 1
                ? active == 0 && jobs.isEmpty : !jobs.contains(where: \.isBarrier))
        if isFree {
            begin(isBarrier)
        } else {
            let entrant = Entrant(thread)
            entrantCount += 1
            jobs.append(
                .init(
                    run: {}, isBarrier: isBarrier, caller: thread, edge: .released(),
                    entrant: entrant))
            scheduler.block(thread, on: self) { entrant.mayRun }
        }
        noteOrder()
        pass(.acquires)
        beginEdges(isAlone: isBarrier || width == 1)
        thread.running.append(
            .init(queue: self, isExclusive: isBarrier || width == 1, caller: nil))
        scheduler.trace?.add(thread, .begins(name))
    }

    /// Ends the job of a thread that has entered.
    func leave(_ thread: SimulatedThread) {
        endEdges(isAlone: thread.running.removeLast().isExclusive)
        didEnd()
    }

    private func begin(_ isBarrier: Bool) {
        active += 1
        isExclusive = isBarrier
    }

    /// Resumes the waiting threads that may now run their jobs.
    private func admitEntrants() {
        guard !isExclusive, isHeld?() != true else { return }
        var place = 0
        while place < jobs.count, !isExclusive {
            let job = jobs[place]
            let isAlone = job.isBarrier || width == 1
            if isAlone && (place > 0 || active > 0) { return }
            guard let entrant = job.entrant else {
                if isAlone { return }
                place += 1
                continue
            }
            jobs.remove(at: place)
            entrantCount -= 1
            begin(job.isBarrier)
            entrant.mayRun = true
            scheduler.wake(entrant.thread)
        }
    }

    /// With several threads, the order decides which thread runs which job.
    private func noteOrder() {
        if width > 1 { scheduler.log?.add(.writes, ownWord) }
    }

    /// Passes on to later jobs what submitters and earlier jobs know of the memory.
    private func pass(_ kind: Access.Kind) {
        guard let memory = scheduler.memory, let thread = scheduler.caller else { return }
        memory.use(kind, ownWord, by: thread.id)
    }

    private func run(_ job: Job) {
        let isAlone = job.isBarrier || width == 1
        job.edge.acquire()
        beginEdges(isAlone: isAlone)
        job.run()
        endEdges(isAlone: isAlone)
    }

    private func beginEdges(isAlone: Bool) {
        afterExclusive.acquire()
        if isAlone { afterShared.acquire() }
        // The jobs of the actor that the queue stands for.
        if let order = scheduler.hosts.order, let actor { order.use(.acquires, actor) }
    }

    private func endEdges(isAlone: Bool) {
        if isAlone { afterExclusive.release() } else { afterShared.release() }
        if let order = scheduler.hosts.order, let actor { order.use(.releases, actor) }
    }

    private var actor: Word? { Word(address: isolation) }

    /// Frees the queued jobs. The deinit of one may notify others, as the guard of a view's drain
    /// does.
    func close() {
        for job in jobs { job.edge.acquire() }
        (jobs, workers) = ([], [])
    }
}
