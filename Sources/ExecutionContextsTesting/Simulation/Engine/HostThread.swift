internal import CSimulation
internal import ExecutionContexts
internal import Foundation

/// A system thread that runs one simulated thread after another, schedule after schedule.
///
/// The library's primitives find it as the simulation of their thread.
final class HostThread: TimedSimulation, @unchecked Sendable {
    // Unchecked: the thread that owns the scheduler token sets `thread` and `scheduler`, while this
    // thread waits for the token.

    let schedulerToken = SchedulerToken()
    private(set) var identifier: UInt32 = 0
    /// The number that identifies it in locks of the system.
    private(set) var systemNumber: UInt32 = 0
    /// The word on which an unsimulated thread would park.
    private var sleeping: Word?
    private(set) var thread: SimulatedThread?
    private(set) var scheduler: SimulationScheduler?
    private var isAbandoned = false
    /// What continues when this one has nothing more to run: another host, or the thread of its
    /// search.
    private var successor: HostThread?
    private var endedSearch: HostThreads?
    /// Whether it is looking up the holder of a lock.
    var isLooking = false
    /// Makes the waker's earlier writes visible to the woken thread.
    private let wakes = Edge()

    /// Starts the system thread, which waits for its first simulated thread.
    init(processor: Int, blocking signals: UInt64) {
        let started = Signal()
        let systemThread = Thread { [self] in
            ecs_pin(UInt32(processor))
            identifier = SimulationHooks.thread
            systemNumber = ecs_thread()
            unsafe sleeping = Word(SimulationHooks.parkedWord)
            ecs_use_signal_stack()
            // This closure retains the host until it sets the pointer to nil, below.
            unsafe ecs_set_current(Unmanaged.passUnretained(self).toOpaque())
            schedulerToken.adopt(blocking: signals)
            SimulationHooks.simulating(self) {
                started.happen()
                while runNext() {}
            }
            schedulerToken.leave()
            // The system's own code ends the thread, and may take locks.
            ecs_set_current(nil)
            ecs_free_signal_stack()
        }
        // As large as the stacks of other threads that run tasks; only used pages take memory.
        systemThread.stackSize = 1 << 23
        systemThread.start()
        started.wait()
    }

    /// The calling host thread, if it is one.
    static var current: HostThread? { unsafe ecs_current().map { unsafe of($0) } }

    /// Whether a thread outside of the simulation has unparked this one since `assign`, which the
    /// scheduler does not see.
    var wasWokenFromOutside: Bool { sleeping?.holder == 1 }

    func assign(_ thread: SimulatedThread?, on scheduler: SimulationScheduler?) {
        self.thread = thread
        self.scheduler = scheduler
        // A late unpark may have been for an earlier simulated thread.
        if thread != nil { sleeping?.clear() }
    }

    /// Runs `body` as on a thread outside of simulations.
    func outside(_ body: () -> Void) {
        let own = unsafe ecs_swap_current(nil)
        SimulationHooks.unsimulated(body)
        _ = unsafe ecs_swap_current(own)
    }

    /// Waits until this thread may run. A thread that is blocked forever ends here.
    func waitForToken() {
        schedulerToken.wait()
        if isAbandoned { Self.endCurrent() }
    }

    /// Lets the thread of the search continue when this one has nothing more to run.
    func end(_ search: HostThreads) { endedSearch = search }

    /// Lets another host run, and waits until this thread may run.
    func change(to other: HostThread) {
        schedulerToken.change(to: other.schedulerToken)
        if isAbandoned { Self.endCurrent() }
    }

    /// Ends the calling host where it stands.
    static func endCurrent() -> Never {
        AccessOrder.leave()
        SimulationHooks.leaveForGood()
        current?.schedulerToken.leave()
        ecs_end_thread()
    }

    /// Ends the system thread, whose simulated thread never continues. Its stack stays, since other
    /// objects may refer to it.
    func abandon() {
        isAbandoned = true
        Self.abandoned.withLock { $0 += 1 }
        schedulerToken.pass()
    }

    private static let abandoned = Locked(0)
    /// Each keeps some 30 kilobytes of memory.
    static let mostAbandoned = Locked(60_000)

    /// Whether so many stacks were abandoned that the process should start no more threads.
    static var hasAbandonedMost: Bool {
        let most = mostAbandoned.withLock { $0 }
        return abandoned.withLock { $0 >= most }
    }

    /// Waits for the scheduler token and runs the simulated thread; false after the last one.
    private func runNext() -> Bool {
        HiddenFromSanitizer.begin()
        let successor = self.successor
        self.successor = nil
        if let successor {
            schedulerToken.change(to: successor.schedulerToken)
        } else {
            // Just before the wait: from now on the search may pass this host's token.
            endedSearch?.searchToken.pass()
            schedulerToken.wait()
            endedSearch = nil
        }
        var next = self.thread
        let isDismissed = scheduler == nil
        HiddenFromSanitizer.end()
        if isDismissed { return false }
        // The next thread may begin on this host, without a switch of system threads.
        while let thread = next { next = run(thread) }
        return true
    }

    /// Runs a simulated thread to its end; returns the one that this host runs next.
    private func run(_ thread: SimulatedThread) -> SimulatedThread? {
        guard let scheduler else { return nil }
        let order = scheduler.hosts.order
        order?.enter(thread, on: self)
        defer { if order != nil { AccessOrder.leave() } }
        thread.edge.acquire()
        if thread.isOfTasks {
            scheduler.tasks.run(thread, on: scheduler)
        } else {
            thread.body?()
            // The program's objects that only this thread referenced are freed with it, in the
            // simulation. A thread that serves a context may run its body again.
            if thread.queue == nil { withExtendedLifetime(thread.body) { thread.body = nil } }
            forgetLocals()
        }
        thread.edge.release()
        HiddenFromSanitizer.begin()
        defer { HiddenFromSanitizer.end() }
        // The simulated threads start when the body has ended, so they see all of its writes.
        if thread.id == 0 {
            for other in scheduler.threads {
                other.edge.release()
                scheduler.memory?.pass(from: 0, to: other.id)
                order?.pass(to: other)
            }
        }
        switch scheduler.didReturn(thread, self) {
        case .begins(let next): return next
        case .waits(let next):
            successor = next
            return nil
        case .ends: return scheduler.hosts.series?.next(on: self)
        }
    }

    /// Releases the local storage, as at the end of a thread.
    private func forgetLocals() {
        SimulationHooks.forgetLocals()
        if Thread.current.threadDictionary.count > 0 {
            Thread.current.threadDictionary.removeAllObjects()
        }
    }

    // MARK: Simulation hooks

    var now: Int64 { scheduler?.now ?? 0 }

    func willTouch(_ word: UnsafeRawPointer) { unsafe willTouch(Word(word)) }

    func willTouch(_ word: Word) {
        HiddenFromSanitizer.begin()
        if let thread, let scheduler { scheduler.willTouch(word, by: thread) }
        HiddenFromSanitizer.end()
    }

    func willRead(_ word: UnsafeRawPointer) {
        HiddenFromSanitizer.begin()
        if let thread, let scheduler { unsafe scheduler.willRead(Word(word), by: thread) }
        HiddenFromSanitizer.end()
    }

    func didLook() {
        HiddenFromSanitizer.begin()
        scheduler?.log?.add(.reads, .library)
        HiddenFromSanitizer.end()
    }

    func willStep() {
        HiddenFromSanitizer.begin()
        if let thread, let scheduler { scheduler.willStep(thread) }
        HiddenFromSanitizer.end()
    }

    func willEnter(_ owner: UnsafeRawPointer, waits: Bool) {
        HiddenFromSanitizer.begin()
        if let thread, let scheduler {
            unsafe scheduler.willEnter(Word(owner), by: thread, waits: waits)
        }
        HiddenFromSanitizer.end()
    }

    func didHandOver(_ owner: UnsafeRawPointer) {
        HiddenFromSanitizer.begin()
        let word = unsafe Word(owner)
        thread?.held.removeAll { $0 == word }
        HiddenFromSanitizer.end()
    }

    var search: UInt32 { scheduler.map { UInt32(truncatingIfNeeded: $0.hosts.number) } ?? 0 }

    func willSpin(_ word: UnsafeRawPointer) {
        HiddenFromSanitizer.begin()
        if let thread, let scheduler {
            scheduler.point(thread, yields: true)
            scheduler.log?.add(.writes, .library)
            scheduler.memory?.use(.writes, nil, by: thread.id)
        }
        HiddenFromSanitizer.end()
    }

    func didMake(_ word: UnsafeRawPointer, _ name: String) { unsafe didMake(Word(word), name) }

    func didMake(_ word: Word, _ name: String) {
        HiddenFromSanitizer.begin()
        scheduler?.names.add(word, name)
        scheduler?.didMake(word, name)
        HiddenFromSanitizer.end()
    }

    func willPark(
        for state: UnsafeRawPointer, _ writer: UnsafeRawPointer, _ writeContext: String
    ) {
        HiddenFromSanitizer.begin()
        unsafe thread?.awaited = .coordinator(
            Word(state), writer: Word(writer), writeContext: writeContext)
        HiddenFromSanitizer.end()
    }

    func park(until deadline: Int64) -> Bool {
        HiddenFromSanitizer.begin()
        var wasWoken = true
        if let thread, let scheduler { wasWoken = scheduler.park(thread, until: deadline) }
        HiddenFromSanitizer.end()
        wakes.acquire()
        return wasWoken
    }

    func undivided(_ body: () -> Void) {
        thread?.undivided += 1
        body()
        thread?.undivided -= 1
    }

    func runOnNewThread(_ work: @escaping @Sendable () -> Void) {
        HiddenFromSanitizer.begin()
        if let thread, let scheduler { scheduler.runOnNewThread(work, by: thread) }
        HiddenFromSanitizer.end()
    }

    func submit(_ work: @escaping @Sendable () -> Void) {
        HiddenFromSanitizer.begin()
        if let thread, let scheduler { scheduler.submit(work, by: thread) }
        HiddenFromSanitizer.end()
    }

    func willSubmitOutside(to name: String) {
        HiddenFromSanitizer.begin()
        if let thread, let scheduler { scheduler.willSubmitOutside(to: name, thread) }
        HiddenFromSanitizer.end()
    }

    var time: any TimeSource { scheduler?.clock ?? SystemTime.shared }

    func unpark(_ number: UInt32) -> Bool {
        guard let thread, let scheduler else { return false }
        HiddenFromSanitizer.begin()
        let sleeper = scheduler.willUnpark(number, by: thread)
        // A late waker may wake a thread that has ended.
        let isKnown = sleeper != nil || scheduler.hosts.isHost(number)
        HiddenFromSanitizer.end()
        guard let sleeper, !sleeper.isDone else { return isKnown }
        sleeper.host?.wakes.release()
        HiddenFromSanitizer.begin()
        scheduler.unpark(sleeper)
        HiddenFromSanitizer.end()
        return true
    }
}
