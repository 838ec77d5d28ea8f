internal import CSimulation
internal import ExecutionContexts

/// One run of a simulated program under one schedule: its threads and the result.
///
/// The running thread itself decides which thread runs next. Continuing the same thread needs no
/// switch of system threads.
final class SimulationScheduler: @unchecked Sendable {
    // Unchecked: the thread that owns the scheduler token owns everything. Passing the token orders
    // memory.

    enum Phase {
        /// The body of the simulation runs alone, and builds the program.
        case settingUp
        case running
        /// A user's condition that must not wait is being checked.
        case checking
        /// The schedule has failed, and the threads run to their ends where they can.
        case unwinding
        case over
    }

    let settings: Settings
    let chooser: Chooser
    let hosts: HostThreads
    let trace: SimulationTrace?
    /// What each step does to shared objects; only choosers that look at orders need it.
    let log: OrderLog?
    /// What threads know about the program's atomics; nil until it uses one.
    var memory: SimulatedMemory?
    /// Only the first schedule of a search is counted.
    private let counter: CountingChooser?

    var phase = Phase.settingUp
    var threads: [SimulatedThread] = []
    /// The threads that can run, and those that are parked until a deadline, as sets of their
    /// numbers.
    var ready: UInt64 = 0
    var timed: UInt64 = 0
    /// The threads that wait for a lock, a condition, a semaphore or a group of the system.
    var lockWaiters: UInt64 = 0
    var now: Int64 = 0
    /// How often the current step has read a system clock, and the time when it began.
    var readings = (step: 0, count: 0, start: Int64(0))
    var steps = 0
    /// Whether the threads now run round-robin, since the schedule used up its steps: a thread that
    /// retries may have waited for one that the schedule starved.
    private(set) var isFair = false
    /// How many tasks in a row have only yielded.
    var yields = 0
    /// The random numbers that the program gets from the system: the same in each schedule, so that
    /// their order depends on the schedule alone.
    var random = SeededRNG(seed: 0)
    /// How often a task yields until time advances.
    var patienceForPolls = SimulationScheduler.mostYields
    /// The step at which time last advanced.
    var stepOfTime = 0
    /// By how much the clock advances next where all running tasks only yield.
    var leap: Int64 = 1_000_000
    private var unwindingSteps = 0
    private(set) var switches: [Switch] = []
    /// Every decision, in order: equal for two runs in which the same happened.
    private(set) var decisions = DecisionLog()
    private(set) var failure: Finding?
    /// How many decisions preceded the failure.
    private(set) var stepsToFailure: Int?
    var inversion: Finding?
    var names = Names()
    var objects = ObjectNumbers()
    var order = LockOrder()
    /// The Dispatch semaphores and groups that the schedule created or used.
    var counters = Counters()
    var dispatchTimes = DispatchTimes()
    /// The Dispatch queues; nil until the program uses one.
    var dispatchQueues: DispatchQueues?
    var conditions: [Condition] = []
    var lastConditions: [Condition] = []
    /// The tracked values that a condition has read; nil unless they are recorded.
    var values: [() -> String?]?
    var queues: [SimulatedJobQueue] = []
    var newThreads: SimulatedJobQueue?
    /// Simulates the system's threads: `sim.global`, and `.global` and `.pool` of code that is
    /// given no context.
    private(set) var system: SimulatedJobQueue!
    let tasks: SimulatedTasks
    private(set) var clock: SimulatedTime!
    private var link: SimulatedTime.Link!

    init(_ settings: Settings, _ chooser: Chooser, _ hosts: HostThreads, trace: SimulationTrace?) {
        self.settings = settings
        self.chooser = chooser
        self.hosts = hosts
        self.trace = trace
        log = chooser.orders?.log
        counter = chooser as? CountingChooser
        tasks = hosts.tasks
        link = SimulatedTime.Link(self)
        clock = SimulatedTime(link)
        system = SimulatedJobQueue(Names.global, width: 24, on: self)
        tasks.begin(self)
        hosts.order?.restart()
        decisions.reserve(hosts.expected.decisions)
        switches.reserveCapacity(hosts.expected.switches)
    }

    // MARK: Threads

    /// What a host does after its thread has returned.
    enum Continuation {
        case begins(SimulatedThread)
        /// Another host continues.
        case waits(for: HostThread)
        /// The schedule is over.
        case ends
    }

    /// Ends the body of a thread.
    func didReturn(_ thread: SimulatedThread, _ host: HostThread) -> Continuation {
        if phase == .settingUp && thread.id == 0 { phase = failure == nil ? .running : .unwinding }
        thread.operations += 1
        suspend(thread, thread.queue == nil && !thread.isOfTasks ? .ended : .idle)
        if thread.id > 0 && !thread.isOfTasks { trace?.add(thread, .ended) }
        // Other jobs than those of the same task are no part of what has returned.
        let goesOn = thread.isOfTasks && thread.next != nil
        if thread.isOfTasks ? tasks.hasJob(for: thread) : thread.queue?.hasJob(for: thread) == true
        {
            wake(thread)
        }
        if phase == .running { checkConditions() }
        noteYield(thread)
        let next = choose(thread, stays: false, yields: thread.hasYielded, isBetween: goesOn)
        thread.hasYielded = false
        // A thread that serves a context may run its body again.
        if let next, next === thread { return .begins(next) }
        thread.run = 0
        thread.host = nil
        guard let next else { return .ends }
        if let successor = next.host {
            hosts.free(host)
            return .waits(for: successor)
        }
        next.host = host
        host.assign(next, on: self)
        return .begins(next)
    }

    /// The host of a thread, which may begin on a free one.
    func host(of thread: SimulatedThread) -> HostThread {
        if let host = thread.host { return host }
        let host = hosts.takeFree()
        thread.host = host
        host.assign(thread, on: self)
        return host
    }

    // MARK: Scheduling

    /// A scheduling point, at which another thread may run before this one does what it intends.
    func point(
        _ thread: SimulatedThread, for intent: Intent? = nil, yields: Bool = false,
        creates: Bool = false
    ) {
        guard phase == .running || phase == .unwinding else { return }
        // Others may need the static variable that the thread is making, and could not wait for it.
        guard thread.undivided == 0 && !ecs_is_making_static() || yields else { return }
        if thread.isInXCTest { return }
        step(thread)
        thread.intent = intent
        pass(from: thread, choose(thread, stays: true, yields: yields, creates: creates))
        thread.intent = nil
    }

    /// Passes the scheduler token to `next` and waits for its return; without a `next`, forever.
    func pass(from thread: SimulatedThread, _ next: SimulatedThread?) {
        guard next !== thread else { return }
        thread.run = 0
        if let next {
            thread.host?.change(to: host(of: next))
        } else {
            hosts.searchToken.pass()
            thread.host?.waitForToken()
        }
    }

    func step(_ thread: SimulatedThread, isPoint: Bool = true) {
        thread.operations += 1
        thread.run += 1
        thread.unseenLocks = 0
        steps += 1
        hosts.didStep()
        if settings.time == .racing { now += 1_000 }
        if phase == .settingUp && steps > settings.steps {
            fail(
                .endless,
                "The body has not ended after \(settings.steps) steps: end its loop, or raise 'steps'."
            )
            giveUp(thread)
        }
        if phase == .unwinding {
            unwindingSteps += 1
            if unwindingSteps > Self.patience { giveUp(thread) }
        } else if steps > settings.steps, !isFair, steps > usualSteps {
            isFair = true
            chooser.orders?.isCut = true
        } else if steps > 2 * settings.steps, steps > 2 * usualSteps {
            fail(
                .endless,
                "The program has not ended after \(steps - 1) steps, the second half of them round-robin. It loops, repeats something forever, or "
                    + "is too long: end the repetition, or raise 'steps'.")
        } else if isPoint && phase == .running && !conditions.isEmpty {
            checkConditions()
        }
    }

    /// How many steps the program may take before its threads run round-robin: more if many tasks
    /// live at a time. Each is created, begins, resumes and ends.
    private var usualSteps: Int { settings.steps + 6 * min(tasks.mostLiving, 100_000) }

    /// How many more steps the threads may take after a failure, to reach their ends.
    private static let patience = 2_000
    /// How many points a thread may pass in a row while others could run, so that a polling thread
    /// does not poll forever.
    private static let longestRun = 1_000

    /// Leaves the thread suspended forever: no other thread can end it.
    func giveUp(_ thread: SimulatedThread) -> Never {
        hosts.searchToken.pass()
        while true { thread.host?.waitForToken() }
    }

    /// The thread that runs next; nil, with the reason as a failure, if no thread can run.
    ///
    /// `isBetween` is false at the end of the running thread or its task.
    func choose(
        _ thread: SimulatedThread, stays: Bool, yields: Bool = false, creates: Bool = false,
        isBetween: Bool = true
    ) -> SimulatedThread? {
        while true {
            let isRacing = settings.time == .racing && phase == .running
            let candidates = withoutLockWaiters(tasks.allowed(ready))
            if candidates == 0 {
                if phase != .over && dispatchQueues?.submitNotifications() == true { continue }
                if phase != .over {
                    // A limit is for what a thread outside does, and that takes no simulated time.
                    if letWaitOutside(withLimit: true) || advance() { continue }
                    if letWaitOutside(withLimit: false) || letPollersContinue() { continue }
                }
                return endOrContinue(after: thread)
            }
            if let counter, phase == .running, timed != 0 || clock.nextDeadline != nil {
                counter.pendingTimes += 1
            }
            if !hosts.isInterrupted, phase == .running, !creates {
                noteInterruption(thread, candidates, isBetween, yields)
            }
            let prefersCurrent = stays && !yields && !isFair && thread.run < Self.longestRun
            let usual = prefersCurrent ? thread.id : Self.next(after: thread.id, in: candidates)
            var target = usual
            if let orders = chooser.orders, phase == .running, !isFair {
                target = chooseOrder(orders, candidates, usual)
            } else if phase == .running && !isFair
                && (isRacing || candidates & (candidates - 1) != 0)
            {
                let situation = Situation(
                    thread: thread.id, operation: thread.operations, stays: stays,
                    yields: yields, creates: creates, candidates: candidates, hasTime: isRacing,
                    usual: usual, threads: threads,
                    object: thread.intent.map { objects.number(of: $0.word) })
                target = chooser.choose(situation)
            }
            note(thread, target, usual: usual)
            if target == Schedule.time {
                trace?.timePasses(in: thread)
                // If nothing is due, time advances by an amount that exceeds common polling
                // intervals.
                if !advance() { now += 1_100_000 }
                thread.operations += 1
                continue
            }
            if target != usual {
                trace?.didSwitch(
                    from: thread, to: threads[target], insteadOf: threads[usual])
            }
            hosts.didSwitch(to: target)
            return threads[target]
        }
    }

    /// Records whether another thread may run here while this one has not ended, or one sleeps.
    private func noteInterruption(
        _ thread: SimulatedThread, _ candidates: UInt64, _ isBetween: Bool, _ yields: Bool
    ) {
        guard candidates & ~(1 << UInt64(thread.id)) != 0 else { return }
        // The runtime resumes a task that yields by a separate job.
        let goesOn = isBetween || yields && candidates & (candidates - 1) != 0
        hosts.isInterrupted = goesOn || timed != 0 || clock.nextDeadline != nil
    }

    /// Records a decision.
    func note(_ thread: SimulatedThread, _ target: Int, usual: Int) {
        if target != usual {
            switches.append(
                Switch(thread: thread.id, operation: thread.operations, target: target))
        }
        decisions.add(thread: thread.id, operation: thread.operations, target: target)
        trace?.step = decisions.count
    }

    private static func next(after id: Int, in candidates: UInt64) -> Int {
        let later = candidates & ~((2 << UInt64(id)) &- 1)
        return (later == 0 ? candidates : later).trailingZeroBitCount
    }

    // MARK: The end

    /// Records the first failure; `locations` are those of the threads involved.
    func fail(
        _ kind: SimulationFailure.Kind, _ message: String,
        locations: [(name: String, location: CallerLocation?)] = []
    ) {
        guard failure == nil, !settings.ignoring.contains(kind) else { return }
        failure = Finding(kind: kind, message: message)
        trace?.locations = locations
        stepsToFailure = decisions.count
        log?.isOpen = false
        dispatchQueues?.keepSuspended()
        if phase != .settingUp { phase = .unwinding }
    }
}
