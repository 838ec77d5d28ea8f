internal import ExecutionContexts
internal import Foundation

/// A system thread that runs one simulated thread after another, schedule after schedule.
///
/// It is the simulation that the primitives of the library find on their thread.
final class HostThread: TimedSimulation, @unchecked Sendable {
    // Unchecked: the thread that owns the scheduler token sets `thread` and `scheduler`, while this
    // thread waits for the token.

    let schedulerToken = SchedulerToken()
    private(set) var identifier: UInt32 = 0
    /// The word on which an unsimulated thread would park.
    private var sleeping: Word?
    private(set) var thread: SimulatedThread?
    private(set) var scheduler: SimulationScheduler?
    /// Makes the waker's earlier writes visible to the woken thread.
    private let wakes = Edge()

    /// Starts the system thread, which waits for its first simulated thread.
    init(processor: Int) {
        let started = Signal()
        let systemThread = Thread { [self] in
            Processors.pin(processor)
            identifier = SimulationHooks.thread
            unsafe sleeping = Word(SimulationHooks.parkedWord)
            SimulationHooks.simulating(self) {
                started.happen()
                while runNext() {}
            }
        }
        systemThread.stackSize = 1 << 19
        systemThread.start()
        started.wait()
    }

    /// The host thread that calls, if one does.
    static var current: HostThread? { SimulationHooks.current as? HostThread }

    /// Whether a thread outside of the simulation has unparked this one since `assign`; the
    /// scheduler does not see that.
    var wasWokenFromOutside: Bool { sleeping?.holder == 1 }

    func assign(_ thread: SimulatedThread?, on scheduler: SimulationScheduler?) {
        self.thread = thread
        self.scheduler = scheduler
        // A late unpark may have been for an earlier simulated thread.
        if thread != nil { sleeping?.clear() }
    }

    /// Waits for the scheduler token and runs the simulated thread; returns false after the last
    /// one.
    private func runNext() -> Bool {
        HiddenFromSanitizer.begin()
        schedulerToken.wait()
        let (thread, scheduler) = (self.thread, self.scheduler)
        HiddenFromSanitizer.end()
        guard let thread, let scheduler else { return false }
        thread.edge.acquire()
        thread.body?()
        // As at the end of a thread: its local storage is released.
        SimulationHooks.forgetLocals()
        if Thread.current.threadDictionary.count > 0 {
            Thread.current.threadDictionary.removeAllObjects()
        }
        thread.edge.release()
        HiddenFromSanitizer.begin()
        // The simulated threads start when the body has ended, so they see all of its writes.
        if thread.id == 0 { for other in scheduler.threads { other.edge.release() } }
        scheduler.didReturn(thread)
        HiddenFromSanitizer.end()
        return true
    }

    // MARK: Simulation hooks

    var now: Int64 { scheduler?.now ?? 0 }

    func willTouch(_ word: UnsafeRawPointer) {
        HiddenFromSanitizer.begin()
        if let thread, let scheduler { unsafe scheduler.willTouch(Word(word), by: thread) }
        HiddenFromSanitizer.end()
    }

    func willStep() {
        HiddenFromSanitizer.begin()
        if let thread, let scheduler { scheduler.willStep(thread) }
        HiddenFromSanitizer.end()
    }

    func willEnter(_ owner: UnsafeRawPointer) {
        HiddenFromSanitizer.begin()
        if let thread, let scheduler { unsafe scheduler.willEnter(Word(owner), by: thread) }
        HiddenFromSanitizer.end()
    }

    func didHandOver(_ owner: UnsafeRawPointer) {
        HiddenFromSanitizer.begin()
        let word = unsafe Word(owner)
        thread?.held.removeAll { $0 == word }
        HiddenFromSanitizer.end()
    }

    func willSpin(_ word: UnsafeRawPointer) {
        HiddenFromSanitizer.begin()
        if let thread, let scheduler { scheduler.point(thread, yields: true) }
        HiddenFromSanitizer.end()
    }

    func didMake(_ word: UnsafeRawPointer, _ name: String) {
        HiddenFromSanitizer.begin()
        unsafe scheduler?.names.add(Word(word), name)
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

    func unpark(_ number: UInt32) {
        HiddenFromSanitizer.begin()
        let woken =
            if let thread, let scheduler { scheduler.willUnpark(number, by: thread) } else {
                nil as SimulatedThread?
            }
        HiddenFromSanitizer.end()
        guard let woken else { return }
        woken.host.wakes.release()
        HiddenFromSanitizer.begin()
        scheduler?.unpark(woken)
        HiddenFromSanitizer.end()
    }
}
