internal import ExecutionContexts

/// One run of a simulated program under one schedule: its threads, the running thread, and the
/// result.
///
/// The running thread decides, on the spot, which thread runs next. Continuing the same thread
/// takes no switch of system threads.
final class SimulationScheduler: @unchecked Sendable {
    // Unchecked: the thread that owns the scheduler token owns everything. Passing the token orders
    // memory.

    enum Phase {
        /// The body of the simulation runs alone, and builds the program.
        case settingUp
        case running
        /// A condition of the user's that must not wait is being checked.
        case checking
        /// The schedule has failed, and the threads run to their ends as far as they can.
        case unwinding
        case over
    }

    let settings: Settings
    let chooser: Chooser
    let hosts: HostThreads
    let trace: SimulationTrace?

    var phase = Phase.settingUp
    var threads: [SimulatedThread] = []
    /// The threads that can run, and those that are parked until a deadline, as sets of their
    /// numbers.
    var ready: UInt64 = 0
    var timed: UInt64 = 0
    var now: Int64 = 0
    var steps = 0
    private var unwindingSteps = 0
    private(set) var switches: [Switch] = []
    /// Every decision, in order: equal for two runs in which the same happened.
    private(set) var decisions = DecisionLog()
    private(set) var failure: Finding?
    var inversion: Finding?
    var names = Names()
    var order = LockOrder()
    var conditions: [Condition] = []
    var lastConditions: [Condition] = []
    var queues: [SimulatedJobQueue] = []
    var newThreads: SimulatedJobQueue?
    /// Stands for the system's threads: `sim.global`, and `.global` and `.pool` of code that is
    /// given no context.
    private(set) var system: SimulatedJobQueue!
    var tasks: [String] = []
    private(set) var clock: SimulatedTime!

    /// A condition that must hold.
    struct Condition {
        let name: String
        let holds: () throws -> Bool
    }

    init(_ settings: Settings, _ chooser: Chooser, _ hosts: HostThreads, trace: SimulationTrace?) {
        self.settings = settings
        self.chooser = chooser
        self.hosts = hosts
        self.trace = trace
        clock = SimulatedTime(self)
        system = SimulatedJobQueue(names.unique("global"), width: 24, on: self)
    }

    // MARK: Threads

    /// Adds a thread that can run; returns nil, with a failure, if there are too many.
    @discardableResult
    func add(_ name: String, queue: SimulatedJobQueue? = nil, _ body: @escaping () -> Void)
        -> SimulatedThread?
    {
        guard threads.count < Schedule.mostThreads else {
            fail(.misuse, "More than \(Schedule.mostThreads) threads were started: simulate fewer.")
            return nil
        }
        let host = hosts.host(threads.count)
        // A serial context and the thread that serves it share one name for the reader.
        let name = queue == nil ? names.unique(name) : name
        let thread = SimulatedThread(
            id: threads.count, name: name, host: host, queue: queue, body: body)
        hosts.setName(of: thread.id, to: thread.name)
        thread.edge.release()
        host.assign(thread, on: self)
        threads.append(thread)
        ready |= 1 << UInt64(thread.id)
        return thread
    }

    func wake(_ thread: SimulatedThread) {
        thread.state = .ready
        ready |= 1 << UInt64(thread.id)
        timed &= ~(1 << UInt64(thread.id))
    }

    func suspend(_ thread: SimulatedThread, _ state: SimulatedThread.State) {
        thread.state = state
        ready &= ~(1 << UInt64(thread.id))
    }

    /// Ends the body of a thread.
    func didReturn(_ thread: SimulatedThread) {
        if phase == .settingUp && thread.id == 0 { phase = failure == nil ? .running : .unwinding }
        thread.operations += 1
        suspend(thread, thread.queue == nil ? .ended : .idle)
        if thread.id > 0 { trace?.add(thread, .ended) }
        if thread.queue?.hasJob(for: thread) == true { wake(thread) }
        if phase == .running { checkConditions() }
        guard let next = choose(thread, stays: false) else { return hosts.searchToken.pass() }
        // `next` may be the same thread: one that serves a context may run its body again.
        next.host.schedulerToken.pass()
    }

    // MARK: Scheduling

    /// A scheduling point, at which another thread may run.
    func point(_ thread: SimulatedThread, yields: Bool = false) {
        guard phase == .running || phase == .unwinding, thread.undivided == 0 || yields else {
            return
        }
        step(thread)
        pass(from: thread, choose(thread, stays: true, yields: yields))
    }

    /// Passes the scheduler token to `next` and waits for its return; without a `next` it waits for
    /// ever.
    func pass(from thread: SimulatedThread, _ next: SimulatedThread?) {
        guard next !== thread else { return }
        thread.run = 0
        if let next { next.host.schedulerToken.pass() } else { hosts.searchToken.pass() }
        thread.host.schedulerToken.wait()
    }

    func step(_ thread: SimulatedThread) {
        thread.operations += 1
        thread.run += 1
        steps += 1
        hosts.didStep()
        if settings.time == .racing { now += 1_000 }
        if phase == .unwinding {
            unwindingSteps += 1
            if unwindingSteps > Self.patience { giveUp(thread) }
        } else if steps > settings.steps {
            fail(
                .endless,
                "The program goes on after \(settings.steps) steps. It loops, repeats something for ever, or "
                    + "is too long: end what repeats, or raise 'steps'.")
        } else if phase == .running && !conditions.isEmpty {
            checkConditions()
        }
    }

    /// How many more steps the threads may take to their ends after a failure.
    private static let patience = 2_000
    /// How many points a thread may pass in a row while others could run; so a thread that polls
    /// does not poll for ever.
    private static let longestRun = 1_000

    /// Leaves the thread suspended for ever: no other thread can end it.
    func giveUp(_ thread: SimulatedThread) -> Never {
        hosts.searchToken.pass()
        while true { thread.host.schedulerToken.wait() }
    }

    func refuseToWait(_ thread: SimulatedThread) -> Never {
        fail(
            .misuse,
            "An invariant waits for a lock or a context. No other thread runs while it is checked, so it may read "
                + "without a lock. Or check it at the end, by 'finally'.")
        giveUp(thread)
    }

    /// The thread that runs next; nil, with the reason as a failure, if no thread can run.
    func choose(_ thread: SimulatedThread, stays: Bool, yields: Bool = false) -> SimulatedThread? {
        while true {
            let isRacing = settings.time == .racing && phase == .running
            let candidates = ready
            if candidates == 0 {
                if phase != .over && advance() { continue }
                return endOrContinue(after: thread)
            }
            let prefersCurrent = stays && !yields && thread.run < Self.longestRun
            let usual = prefersCurrent ? thread.id : Self.next(after: thread.id, in: candidates)
            var target = usual
            if phase == .running && (isRacing || candidates & (candidates - 1) != 0) {
                let situation = Situation(
                    thread: thread.id, operation: thread.operations, stays: stays,
                    candidates: candidates,
                    hasTime: isRacing, usual: usual)
                target = chooser.choose(situation)
                if target != usual {
                    switches.append(
                        Switch(thread: thread.id, operation: thread.operations, target: target))
                }
            }
            decisions.add(thread: thread.id, operation: thread.operations, target: target)
            trace?.step = decisions.count
            if target == Schedule.time {
                trace?.add(thread, .time)
                // If nothing is due, time advances by an amount that some code counts as long.
                if !advance() { now += 1_100_000 }
                thread.operations += 1
                continue
            }
            if target != thread.id {
                trace?.didSwitch(from: thread, to: threads[target], isSwitch: target != usual)
            }
            hosts.didSwitch(to: target)
            return threads[target]
        }
    }

    private static func next(after id: Int, in candidates: UInt64) -> Int {
        let later = candidates & ~((2 << UInt64(id)) &- 1)
        return (later == 0 ? candidates : later).trailingZeroBitCount
    }

    /// Advances the clock to the next deadline, and fires or wakes what is due; returns false if
    /// nothing is ever due.
    private func advance() -> Bool {
        var next = clock.nextDeadline ?? .max
        var sleeper: SimulatedThread?
        var rest = timed
        while rest != 0 {
            let thread = threads[rest.trailingZeroBitCount]
            rest &= rest - 1
            if thread.deadline < next { (next, sleeper) = (thread.deadline, thread) }
        }
        guard next != .max, phase != .running || next <= settings.horizon else { return false }
        now = max(now, next)
        if let sleeper { wake(sleeper) } else { clock.fireNext() }
        return true
    }

    // MARK: The end

    func fail(_ kind: SimulationFailure.Kind, _ message: String) {
        guard failure == nil, !settings.ignoring.contains(kind) else { return }
        failure = Finding(kind: kind, message: message)
        if phase != .settingUp { phase = .unwinding }
    }

    /// Breaks the reference cycles between the scheduler and its objects, and returns the jobs that
    /// have not started.
    func close() -> [SimulatedJobQueue.Job] {
        phase = .over
        for thread in threads where thread.isDone {
            thread.body = nil
            thread.host.assign(nil, on: nil)
        }
        conditions = []
        lastConditions = []
        clock.close()
        return queues.flatMap { $0.close() }
    }
}

/// A failure found in one schedule.
struct Finding: Hashable, Sendable {
    var kind: SimulationFailure.Kind
    var message: String
}
