internal import CSimulation
internal import ExecutionContexts

/// The tasks of one schedule, each of which is a simulated thread while it can run.
///
/// A task keeps its thread from its first job to its end. If more tasks live than there may be
/// threads, a suspended one gives up its thread, and its next job takes another.
@safe final class SimulatedTasks: @unchecked Sendable {
    // Unchecked: the thread that owns the scheduler token owns this object.

    /// How many threads tasks may use at a time; the others are for threads and contexts.
    private static let most = 40
    /// How many tasks that a schedule has left are remembered, about.
    private static let mostLeft = 100

    /// The schedule that runs; nil between two of them.
    private(set) var scheduler: SimulationScheduler!
    /// How many threads tasks have or had.
    private var threadCount = 0
    /// How often a task was given a thread.
    private var assignments = 0
    /// How many jobs were ready.
    private var arrivals = 0
    /// How many of the jobs that are ready need an actor.
    private(set) var waitingForActors = 0
    private let records = TaskRecords()
    /// How many tasks have lived at a time.
    var mostLiving: Int { records.mostLiving }
    /// How many tasks have begun and not ended.
    private(set) var livingCount = 0
    /// The task that starts the program and that no schedule ends.
    var ignored: UInt32?
    /// The names of actors, by their addresses.
    private var actors: [UInt: (type: String, name: String)] = [:]
    /// Separate from the names of tasks: only traced schedules use names of actors.
    private var actorNames = Names()
    /// Jobs that wait for a thread.
    private var overflow = ArraySlice<TaskJob>()
    /// The threads whose job has begun and not returned, as a set of their numbers.
    var begun: UInt64 = 0
    private var started = 0
    /// The tasks that have made a continuation, by their addresses: their names, and whether the
    /// last continuation has not been resumed. Of those that the runtime makes it sees none.
    private var continuations: [Word: (task: SimulatedThread.Title, isOpen: Bool)] = [:]
    /// The names of tasks that had not ended with their schedule, by their numbers: a thread
    /// outside may still resume one.
    private var left: [UInt32: String] = [:]
    /// The first event of the running task, until its name is known.
    private var beginning: SimulationTrace.TraceEvent?

    /// Begins a schedule, after the end of the previous one.
    func begin(_ scheduler: SimulationScheduler) {
        self.scheduler = scheduler
        (started, begun, ignored, beginning) = (0, 0, nil, nil)
        (threadCount, assignments, actorNames) = (0, 0, Names())
        (arrivals, waitingForActors) = (0, 0)
    }

    /// Takes a job that can run.
    func add(_ job: TaskJob) {
        guard let scheduler else { return }
        guard let thread = thread(for: job) else {
            // No task exists that could end and make room.
            if threadCount == 0 { scheduler.failForTooManyThreads() }
            return overflow.append(job)
        }
        give(job, to: thread)
        // A thread that runs a job of its task begins the next one when it returns.
        if thread.state == .idle { scheduler.wake(thread) }
    }

    private func give(_ job: TaskJob, to thread: SimulatedThread) {
        arrivals += 1
        thread.arrival = arrivals
        thread.mayBeLate = begun & 1 << UInt64(thread.id) != 0
        thread.next = job
        if job.isolation != 0 { waitingForActors += 1 }
    }

    /// Records that the job ends a sleep, if its task has not begun.
    func noteSleep(_ job: TaskJob) {
        guard job.isTask else { return }
        let record = records.record(of: job)
        if record.job == nil { record.endsSleep = true }
    }

    /// Records with which context a task begins, and which functions created it.
    func didCreate(
        _ task: TaskJob, beginningWith context: UInt, by callers: UnsafeBufferPointer<UInt>
    ) {
        let record = records.record(of: task)
        record.firstContext = context
        record.creators.removeAll(keepingCapacity: true)
        unsafe record.creators.append(contentsOf: callers)
    }

    /// A task has made a continuation.
    func didMakeContinuation(of task: Word, _ thread: SimulatedThread) {
        continuations[task] = (thread.title, true)
    }

    /// The last continuation of a task is about to be resumed; if it has been resumed before,
    /// returns the name of the task.
    func endContinuation(of task: Word) -> String? {
        guard let known = continuations[task] else { return nil }
        continuations[task]?.isOpen = false
        return known.isOpen ? nil : known.task.text
    }

    /// The name of the job's task, if that has begun and is another one than the thread's.
    func title(of job: TaskJob, besides thread: SimulatedThread) -> String? {
        guard job.isTask, let task = records.known(job), task !== thread.task, task.job != nil,
            isOfProgram(task)
        else { return nil }
        return task.title.text
    }

    /// How far a task is, which the caller keeps alive.
    func state(of task: TaskJob) -> TaskAct.CancelledTask.State {
        if task.hasEnded { return .ended }
        return records.known(task)?.job == nil ? .new : .living
    }

    private func isOfProgram(_ task: TaskRecord) -> Bool {
        task.number != ignored && !task.endsSleep
    }

    // MARK: Threads

    /// The thread of the job's task; nil if all are taken.
    private func thread(for job: TaskJob) -> SimulatedThread? {
        if job.isTask, let thread = records.known(job)?.thread { return thread }
        guard let thread = newThread() ?? idleThread() else { return nil }
        assign(job, to: thread)
        return thread
    }

    private func assign(_ job: TaskJob, to thread: SimulatedThread) {
        assignments += 1
        thread.assignment = assignments
        thread.task?.thread = nil
        thread.task = nil
        guard job.isTask else {
            thread.title = records.known(job).map { .endOfYield($0.title) } ?? .plain("a job")
            return
        }
        let record = records.record(of: job)
        if record.title == .none {
            if record.endsSleep {
                record.title = .plain("the end of a sleep")
            } else {
                if record.number != ignored { started += 1 }
                record.title = .task(started)
            }
        }
        thread.task = record
        record.thread = thread
        thread.title = record.title
        if case .plain(let name) = record.title {
            scheduler.hosts.setTaskName(of: thread.id, to: name)
        }
    }

    private func newThread() -> SimulatedThread? {
        guard threadCount < Self.most, let thread = scheduler.addTaskThread() else { return nil }
        threadCount += 1
        return thread
    }

    /// A thread without a job: preferably one whose task has ended, not one whose task is
    /// suspended.
    private func idleThread() -> SimulatedThread? {
        let free = scheduler.threads.filter {
            $0.isOfTasks && $0.state == .idle && $0.next == nil && $0.host == nil
        }
        // Of several, the one assigned first.
        return free.filter { $0.task == nil }.min { $0.assignment < $1.assignment }
            ?? free.min { $0.assignment < $1.assignment }
    }

    // MARK: Running a job

    /// Runs the next job of the calling simulated thread.
    func run(_ thread: SimulatedThread, on scheduler: SimulationScheduler) {
        HiddenFromSanitizer.begin()
        guard let job = thread.next else { return HiddenFromSanitizer.end() }
        thread.next = nil
        if job.isolation != 0 { waitingForActors -= 1 }
        thread.resumed = []
        scheduler.step(thread)
        thread.isolation = job.isolation
        begun |= 1 << UInt64(thread.id)
        noteActor(.acquires, job)
        // The runtime orders it after everything that led to it.
        scheduler.memory?.synchronize(thread.id)
        let isFirst = begin(job, thread)
        if let trace = scheduler.trace { self.trace(job, thread, isFirst, trace) }
        HiddenFromSanitizer.end()
        job.run(isFirst: isFirst)
        HiddenFromSanitizer.begin()
        begun &= ~(1 << UInt64(thread.id))
        noteActor(.releases, job)
        if let trace = scheduler.trace { traceEnd(job, thread, trace) }
        // A job that is not a task is freed after it has run.
        let ended = thread.task.flatMap { job.hasEnded ? didEnd($0, thread) : nil }
        HiddenFromSanitizer.end()
        // The program's deinits may run here.
        ended?.release()
    }

    /// An actor is like a lock that a job holds from its beginning to its end.
    private func noteActor(_ kind: Access.Kind, _ job: TaskJob) {
        guard let log = scheduler.log, let actor = Word(address: job.isolation) else { return }
        log.add(kind, actor)
    }

    private func trace(
        _ job: TaskJob, _ thread: SimulatedThread, _ isFirst: Bool, _ trace: SimulationTrace
    ) {
        guard let task = thread.task, isOfProgram(task) else { return }
        let isCancelled = job.isTask && job.isCancelled
        let part = TaskPart(
            isFirst: isFirst, actor: actorName(of: job), isMove: task.isMoving,
            isCancelled: isCancelled && !task.wasCancelled, locations: job.locations)
        (task.isMoving, task.wasCancelled) = (false, isCancelled)
        // The first part reports its name before it is traced.
        if isFirst { beginning = .runs(part) } else { trace.add(thread, .runs(part)) }
    }

    /// Tells why a part of a task has ended.
    private func traceEnd(_ job: TaskJob, _ thread: SimulatedThread, _ trace: SimulationTrace) {
        guard let task = thread.task, task.job != nil, isOfProgram(task) else { return }
        if job.hasEnded {
            let error = task.thrown ?? job.errorThrown(since: task.firstContext)
            return trace.add(thread, .ends(throwing: error, resuming: thread.resumed))
        }
        // The job may have been the actor's last user: its name is that of the part's beginning.
        let actor = actors[job.isolation]?.name
        if thread.isYielding {
            trace.add(thread, .yields(leaving: actor))
        } else if thread.next == nil && !task.isHandedOver {
            trace.add(thread, .awaits(job.awaited, leaving: actor, locations: job.locations))
        } else {
            task.isMoving = true
            if let actor { trace.add(thread, .exits(actor)) }
        }
        (thread.isYielding, task.isHandedOver) = (false, false)
    }

    /// Registers the job's task; returns whether this is its first part.
    private func begin(_ job: TaskJob, _ thread: SimulatedThread) -> Bool {
        guard let task = thread.task, task.job == nil, !task.wasHandedOver, task.number != ignored
        else { return false }
        job.setOwner(scheduler.hosts.number, record: task.place + 1)
        job.retain()
        task.job = job
        livingCount += 1
        return true
    }

    /// The task may end on an executor of the program's own, which does not report it. The task of
    /// an `async let` is then freed although it is retained; its parent's trace shows where it
    /// waits.
    func willHandOver(_ thread: SimulatedThread) {
        guard let task = thread.task, let job = task.job else { return }
        task.isHandedOver = true
        guard job.isAsyncLet else { return }
        task.job = nil
        task.wasHandedOver = true
        livingCount -= 1
        job.release()
    }

    /// Sets the name that the program gave to a task that begins.
    func didStart(_ thread: SimulatedThread, _ name: String?) {
        if let task = thread.task, task.job != nil {
            let before = thread.title
            if let name {
                task.title = .plain(scheduler.names.unique(name))
                thread.title = task.title
            }
            scheduler.trace?.didBegin(task.number, thread.title, before: before)
        }
        scheduler.hosts.setTaskName(of: thread.id, to: name)
        if let beginning { scheduler.trace?.add(thread, beginning) }
        beginning = nil
    }

    /// Returns the job that the caller releases.
    private func didEnd(_ task: TaskRecord, _ thread: SimulatedThread) -> TaskJob? {
        thread.task = nil
        if task.job != nil { livingCount -= 1 }
        return records.end(task)
    }

    private func actorName(of job: TaskJob) -> String? {
        guard let name = job.actorName else { return nil }
        let known = actors[job.isolation]
        // A later actor may have the address of an earlier one.
        if let known, known.type == name { return known.name }
        let unique = actorNames.unique(name)
        actors[job.isolation] = (name, unique)
        return unique
    }

    /// Whether a thread whose job has returned has another one to run.
    func hasJob(for thread: SimulatedThread) -> Bool {
        if thread.next == nil, let job = overflow.popFirst() {
            // Its task may have been given another thread, which then runs the job.
            if job.isTask, let other = records.known(job)?.thread, other !== thread {
                add(job)
            } else {
                assign(job, to: thread)
                give(job, to: thread)
            }
        }
        return thread.next != nil
    }

    // MARK: The end

    /// The unfinished tasks and where they wait, when no thread can run; nil if there are none.
    var waits: (count: Int, text: String)? {
        // A task that an executor of the program's own has run may have ended there.
        let tasks = records.all.filter { $0.job?.hasEnded == false }.sorted {
            $0.number < $1.number
        }
        guard !tasks.isEmpty else { return nil }
        let texts = tasks.prefix(8).map { task in
            let place =
                CodeLocations.function(at: task.job?.locations ?? []).map { " in \($0)" } ?? ""
            let start =
                CodeLocations.function(at: task.creators).map { ", started in \($0)," } ?? ""
            return "'\(task.title.text)'\(start) waits\(place)"
        }
        let more = tasks.count > 8 ? ", and \(tasks.count - 8) more" : ""
        return (tasks.count, texts.joined(separator: "; ") + more)
    }

    /// A task of the running schedule, or one that an earlier one has left, as text.
    func name(_ place: Int, _ number: UInt32) -> String? {
        guard scheduler != nil, let task = records.at(place, number) else {
            return left[number].map { "The task '\($0)'" }
        }
        let start = CodeLocations.function(at: task.creators).map { ", started in \($0)," } ?? ""
        return "The task '\(task.title.text)'\(start)"
    }

    /// Ends the schedule.
    func close() {
        for thread in scheduler.threads { thread.task = nil }
        if left.count > Self.mostLeft { left = [:] }
        for task in records.all where task.job?.hasEnded == false {
            left[task.number] = task.title.text
        }
        records.endAll()
        livingCount = 0
        (overflow, actors, continuations, scheduler) = ([], [:], [:], nil)
    }
}
