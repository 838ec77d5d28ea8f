internal import CSimulation
internal import ExecutionContexts
internal import Synchronization

/// The host threads of one search, and the progress that its caller sees.
final class HostThreads: @unchecked Sendable {
    // Unchecked: the owner of the scheduler token owns the fields that change; the rest is atomic
    // or behind a lock.

    /// The token with which the schedule returns to the thread of the search.
    let searchToken = SchedulerToken()
    /// The hosts that run no simulated thread; the one freed last is reused first.
    private var idle: [HostThread] = []
    /// The schedules that run.
    var series: Series?
    /// How many decisions and switches the previous schedule had.
    var expected = (decisions: 0, switches: 0)
    /// At how many points of the first schedule another thread could have run.
    var choices = 0
    /// How often the program called `chance` in it; nil for a replay.
    var chances: Int?
    /// At how many of its points a delay, a sleep or a time limit was pending.
    var pendingTimes = 0
    /// Whether a thread or a task could be interrupted between its beginning and its end, in any
    /// schedule.
    var isInterrupted = false
    /// What the program has used that the search does not control.
    var met = Uncontrolled()
    /// The reversals found and tried, if the strategy looks for them.
    var reversals: Reversals?
    /// What orders accesses of memory; nil where no code of the program tells them.
    let order = AccessOrder()
    /// The conflicting operations seen, if the strategy looks for them.
    var pairs: ConflictingPairs?
    /// The schedules that the search has run, a hash of the decisions of each.
    private var distinct: Set<UInt64> = []
    var distinctCount: Int { distinct.count }
    /// The tasks of each schedule.
    let tasks = SimulatedTasks()
    /// The first of the threads of earlier schedules that may run tasks again.
    private var spareThread: SimulatedThread?
    /// The search's right to run tasks.
    let taskLease = TaskLease()
    private var numbers: Set<UInt32> = []
    private let processor: Int
    private var signals: UInt64 = 0
    private let stepTotal = Atomic(0)
    private let current = Atomic(0)
    private let missedChanges = Atomic(0)
    /// The thread that frees the objects of a schedule. Relaxed: only that thread compares it.
    private let closer = Atomic<UInt32>(0)
    private let names = Locked<[String]>([])
    /// The threads with a name of their own, as a set of their numbers.
    private var namedTasks: UInt64 = 0
    private let didReportForeignUse = Signal()
    private let foreignUses = Locked<[ForeignUse]>([])

    private struct ForeignUse {
        let message: String
        /// The resumed task, if any: its record, and its number.
        var task: (record: Int, number: UInt32)?
    }

    /// The number of the search among those of the process.
    private(set) var number: UInt = 0

    private static let started = Atomic(0)

    /// Happens when no thread of the search runs any more.
    let isOver: Signal

    init(isOver: Signal = Signal()) {
        self.isOver = isOver
        processor = Self.started.add(1, ordering: .relaxed).oldValue
    }

    /// The newest task of the process when the search began.
    private var newestTask: UInt32 = 0

    /// Whether a job may belong to the search: its task is newer than the search.
    func mayOwn(_ job: TaskJob) -> Bool {
        // The numbers may have wrapped around.
        guard Int32(bitPattern: job.number &- newestTask) > 0 else { return false }
        // A task that another search has left behind may be as new.
        return [0, UInt32(truncatingIfNeeded: number)].contains(job.search)
    }

    /// Registers the search until `unregister`.
    func register() {
        newestTask = TaskJob.newestNumber
        number = RunningSearches.add(self)
    }

    func unregister() {
        SharedCounters.forget(all: self)
        RunningSearches.remove(number)
        taskLease.giveUp()
    }

    /// Makes the calling thread the search's own: it is pinned to the processor of the host
    /// threads, and they block the signals that it blocks.
    func begin() {
        ecs_pin(UInt32(processor))
        signals = ecs_signal_mask()
    }

    func takeFree() -> HostThread {
        if let host = idle.popLast() { return host }
        let host = HostThread(processor: processor, blocking: signals)
        numbers.insert(host.identifier)
        return host
    }

    /// Returns a thread that runs tasks.
    func taskThread(_ id: Int) -> SimulatedThread {
        guard let thread = spareThread else { return SimulatedThread(ofTasks: id) }
        (spareThread, thread.nextSpare) = (thread.nextSpare, nil)
        thread.reuse(id)
        return thread
    }

    /// Keeps the threads that a later schedule can reuse.
    func keep(_ threads: [SimulatedThread]) {
        for thread in threads where thread.isReusable {
            (thread.nextSpare, spareThread) = (spareThread, thread)
        }
    }

    /// Whether a host of this search has this number, or had it.
    func isHost(_ number: UInt32) -> Bool { numbers.contains(number) }

    /// Takes back a host whose simulated thread has ended. A host whose thread never ends is lost.
    func free(_ host: HostThread) {
        host.assign(nil, on: nil)
        idle.append(host)
    }

    func dismiss() {
        for host in idle { host.schedulerToken.pass() }
        idle = []
    }

    // MARK: Progress and foreign uses

    /// Records a schedule of the search; some may be equal.
    func didTry(_ decisions: DecisionLog) { distinct.insert(decisions.fingerprint) }

    /// Counts a step. Relaxed, here and below: it is read seldom, and any recent value will do.
    func didStep() {
        stepTotal.store(stepTotal.load(ordering: .relaxed) &+ 1, ordering: .relaxed)
    }

    /// Counts a change of a task's executor that was no scheduling point.
    func didMissChange() { missedChanges.add(1, ordering: .relaxed) }

    /// How many such changes there were; nil if the platform does not report them.
    var missedChangeCount: Int? {
        ecs_takes_switches() ? missedChanges.load(ordering: .relaxed) : nil
    }

    func didSwitch(to thread: Int) { current.store(thread, ordering: .relaxed) }

    var stepCount: Int { stepTotal.load(ordering: .relaxed) }

    /// The number of the thread that ran last.
    var lastThread: Int { current.load(ordering: .relaxed) }

    /// The name of the thread with this number, in the latest schedule that had one.
    func name(of thread: Int) -> String {
        names.withLock { names in
            guard names.indices.contains(thread) else { return thread == 0 ? "the body" : "a task" }
            return names[thread].isEmpty ? "a task" : names[thread]
        }
    }

    /// Sets the name of a thread that begins a task, which may have no name of its own.
    func setTaskName(of thread: Int, to name: String?) {
        let bit: UInt64 = 1 << UInt64(thread)
        // Most tasks have no name, and need no lock.
        if name == nil && namedTasks & bit == 0 { return }
        setName(of: thread, to: name ?? "a task")
        if name == nil { namedTasks &= ~bit }
    }

    func setName(of thread: Int, to name: String) {
        namedTasks |= 1 << UInt64(thread)
        names.withLock { names in
            while names.count <= thread { names.append("") }
            names[thread] = name
        }
    }

    /// Runs `body`, in which the calling thread frees the objects of a finished schedule.
    func closing(_ body: () -> Void) {
        closer.store(SimulationHooks.thread, ordering: .relaxed)
        body()
        closer.store(0, ordering: .relaxed)
    }

    /// Records that a thread outside of the simulation has used a simulated object.
    func report(foreign message: String) {
        // The program's objects may use others while they are freed.
        if closer.load(ordering: .relaxed) == SimulationHooks.thread { return }
        add(ForeignUse(message: message))
    }

    /// Records that such a thread has resumed a task. The message follows the task's name.
    func report(foreign message: String, resuming task: TaskJob) {
        add(ForeignUse(message: message, task: (task.record, task.number)))
    }

    private func add(_ use: ForeignUse) {
        foreignUses.withLock { $0.append(use) }
        didReportForeignUse.happen()
    }

    /// What a report of work outside adds: that Dispatch may be the cause.
    var noteOnDispatch: String { met.contains(.dispatch) ? " \(Uncontrolled.dispatch.text)." : "" }

    /// The first of these uses, as text; for the owner of the scheduler token, who knows the tasks.
    func takeForeignUse() -> String? {
        let first = foreignUses.withLock { foreignUses in
            defer { foreignUses = [] }
            return foreignUses.first
        }
        return first.map { use in
            guard let task = use.task else { return use.message }
            // A search also calls this after the schedule, when nothing else hides what the token
            // orders.
            HiddenFromSanitizer.begin()
            defer { HiddenFromSanitizer.end() }
            return (tasks.name(task.record, task.number) ?? "A task") + use.message
        }
    }

    /// How long a search waits for a use by an outside thread that may be about to report.
    static let patienceForForeignUse = Duration.milliseconds(200)

    /// Waits a moment for a use that may be about to be reported.
    func awaitForeignUse() -> String? {
        let end = ContinuousClock.now + Self.patienceForForeignUse
        repeat {
            // A signal may belong to a use that was already taken.
            if let use = takeForeignUse() { return use }
        } while didReportForeignUse.wait(count: 1, atMost: end - .now)
        return takeForeignUse()
    }
}
