internal import CPlatform
internal import Synchronization

/// The services that a simulation provides to its threads instead of the system.
///
/// The library's primitives are words that threads change atomically, and threads that park and are
/// unparked. Both go through `SimulationHooks` and `Parker`, which call the simulation of the
/// calling thread, if it has one. So a simulation explores the state machines that ship.
package protocol Simulation: AnyObject {
    /// The calling thread is about to read or change a word that other threads read or change.
    func willTouch(_ word: UnsafeRawPointer)

    /// The same, where the calling thread only reads the word.
    func willRead(_ word: UnsafeRawPointer)

    /// The same, for a word that has no name.
    func willStep()

    /// The calling thread reads a word that other threads change; no scheduling point.
    func didLook()

    /// The calling thread is about to try to take the lock with this owner word, which is zero or
    /// the number of the lock owner. Also a scheduling point.
    ///
    /// With `waits`, the thread waits for a lock that is taken.
    func willEnter(_ owner: UnsafeRawPointer, waits: Bool)

    /// The calling thread has handed the lock with this owner word over to another thread.
    func didHandOver(_ owner: UnsafeRawPointer)

    /// The number of its search among those of the process; zero between two schedules.
    var search: UInt32 { get }

    /// The calling thread has found a lock taken and tries again and again: the other threads
    /// should run.
    func willSpin(_ word: UnsafeRawPointer)

    /// The object with this word is new, and has this name.
    func didMake(_ word: UnsafeRawPointer, _ name: String)

    /// The calling thread is about to park, and threads that have `word` in a slot may unpark it.
    ///
    /// So may the thread whose number `owner` holds, and a job of what has the name `runner`.
    func willPark(for word: UnsafeRawPointer, _ owner: UnsafeRawPointer, _ runner: String)

    /// Parks the calling thread until it is woken, or `deadline` passes; true if it was woken.
    func park(until deadline: Int64) -> Bool

    /// Wakes the thread with this number, or makes its next `park` return at once; false if the
    /// simulation does not run it.
    func unpark(_ thread: UInt32) -> Bool

    /// Runs `work` on a new thread of the system.
    func runOnNewThread(_ work: @escaping @Sendable () -> Void)

    /// Runs `work` on one of the simulated threads that stand for the system's.
    func submit(_ work: @escaping @Sendable () -> Void)

    /// The calling thread is about to submit a job to what has this name, which runs it outside of
    /// the schedule.
    func willSubmitOutside(to name: String)

    /// Runs `body` without a scheduling point in it, except where it has to wait.
    func undivided(_ body: () -> Void)

    /// Runs `body` as on a thread outside of simulations.
    func outside(_ body: () -> Void)

    /// The simulated monotonic clock, in nanoseconds.
    var now: Int64 { get }
}

/// The calls of the library that a simulation answers.
@usableFromInline
package enum SimulationHooks {
    /// Runs `body` with the calling thread in a simulation.
    package static func simulating<Result>(_ simulation: any Simulation, _ body: () -> Result)
        -> Result
    {
        let thread = unsafe Threads.own
        // Retained and released by hand: a lifetime that lasts to the end of a scope ends early if
        // `body` does not return.
        let box = unsafe Unmanaged.passRetained(Box(simulation))
        count(1)
        unsafe thread.pointee.simulation = box.toOpaque()
        defer {
            unsafe thread.pointee.simulation = nil
            count(-1)
            unsafe box.release()
        }
        return body()
    }

    /// Runs `body` as on a thread that is not simulated.
    package static func unsimulated(_ body: () -> Void) {
        let thread = unsafe Threads.own
        let simulation = unsafe thread.pointee.simulation
        unsafe thread.pointee.simulation = nil
        body()
        unsafe thread.pointee.simulation = simulation
    }

    /// Ends the simulation of the calling thread, which ends in the middle of `simulating`.
    ///
    /// `Threads.contains` no longer visits the record, which withdraws the thread's announcements.
    /// The record is not reused: the thread's frames stay, and may refer to it.
    package static func leaveForGood() {
        let thread = unsafe Threads.own
        unsafe thread.pointee.simulation = nil
        count(-1)
        Threads.records.withUnscheduledLock { unsafe $0.leaveOut(thread) }
    }

    /// Gives the calling thread its record now, and not in the middle of what follows.
    package static func attachThread() { _ = unsafe Threads.own }

    private static let simulated = Guarded(0)

    /// Counts the simulated threads. Without any, all threads take the fast paths again.
    ///
    /// The mode may change while threads are on either path: each path is right beside the other.
    private static func count(_ change: Int) {
        simulated.withLock { simulated in
            simulated += change
            ec_mode_set(UInt32(EC_MODE_SIMULATED), simulated > 0)
        }
    }

    /// The number of the calling thread, by which `Simulation.unpark` names it.
    package static var thread: UInt32 { unsafe Threads.own.pointee.identifier }

    /// The number of the thread for which the calling thread acts.
    package static var caller: UInt32 { unsafe Threads.current.pointee.identifier }

    static func simulation(of thread: ThreadRecord) -> (any Simulation)? {
        guard let box = unsafe thread.pointee.simulation else { return nil }
        return unsafe Unmanaged<Box>.fromOpaque(box).takeUnretainedValue().simulation
    }

    /// Runs what the language calls under a lock of its own, such as a task's cancellation handler.
    ///
    /// No simulated thread could wait for that lock if this one passed on the scheduler token.
    package static func undivided<Result>(_ body: () -> Result) -> Result {
        guard let simulation = current else { return body() }
        var result: Result?
        simulation.undivided { result = body() }
        return result!
    }

    /// Runs what concerns a thread that no simulation controls.
    package static func outside<Result>(_ body: () -> Result) -> Result {
        guard let simulation = current else { return body() }
        var result: Result?
        simulation.outside { result = body() }
        return result!
    }

    /// Makes what is made once in a process, without a scheduling point in it (law 33).
    ///
    /// A scheduling point in there would be one in the first schedule only. It would also be under
    /// the language's own lock: see `undivided`.
    package static func making<Made>(_ make: () -> Made) -> Made { undivided(make) }

    /// Runs `work` on a new thread of the caller's simulation; false outside of a simulation.
    static func runOnNewThread(_ work: @escaping @Sendable () -> Void) -> Bool {
        guard let simulation = current else { return false }
        simulation.runOnNewThread(work)
        return true
    }

    /// The monotonic clock, or the simulated one.
    static var now: Int64 {
        if ec_mode() & UInt32(EC_MODE_SIMULATED) != 0, let simulation = current {
            return simulation.now
        }
        return MonotonicClock.nanoseconds
    }

    static func now(_ thread: ThreadRecord) -> Int64 {
        unsafe simulation(of: thread)?.now ?? MonotonicClock.nanoseconds
    }

    /// A scheduling point before the caller uses a word; does nothing outside of a simulation.
    @usableFromInline @inline(never)
    static func willTouch(_ word: UnsafeRawPointer) { unsafe current?.willTouch(word) }

    /// Takes a `NativeLock` for a simulated thread, after a scheduling point; false for any other
    /// thread.
    ///
    /// An owner of the caller's search reached a scheduling point while it had the lock, and needs
    /// the scheduler token to continue. Any other owner continues by itself, and the schedule must
    /// not show that the caller has met it: searches run beside each other, and some locks are the
    /// whole process's (law 33).
    ///
    /// - Parameters:
    ///   - take: Takes the lock for the search with this number, if it is free.
    ///   - isOwned: Whether a thread of the search owns it.
    ///   - wait: Waits for the lock as any thread does, and takes it for the search.
    static func lock(
        _ word: UnsafeRawPointer, try take: (_ search: UInt32) -> Bool,
        isOwned: (_ search: UInt32) -> Bool, wait: (_ search: UInt32) -> Void
    ) -> Bool {
        guard let simulation = current else { return false }
        simulation.willStep()
        let search = simulation.search
        while !take(search) {
            guard isOwned(search) else {
                wait(search)
                break
            }
            unsafe simulation.willSpin(word)
        }
        return true
    }

    /// The simulation of the calling thread.
    package static var current: (any Simulation)? {
        guard let thread = unsafe ec_thread_current() else { return nil }
        return unsafe simulation(of: thread)
    }

    /// Names the object with this word; only a simulation uses it.
    static func made(_ word: UnsafeRawPointer, _ name: @autoclosure () -> String) {
        if ec_mode() & UInt32(EC_MODE_SIMULATED) != 0 { unsafe current?.didMake(word, name()) }
    }

    static func handedOver(_ owner: UnsafeRawPointer) {
        if ec_mode() & UInt32(EC_MODE_SIMULATED) != 0 { unsafe current?.didHandOver(owner) }
    }

    /// Says what the calling thread is about to park for; only a simulation uses it.
    static func willPark(
        for word: UnsafeRawPointer, _ owner: UnsafeRawPointer, _ runner: @autoclosure () -> String
    ) {
        if ec_mode() & UInt32(EC_MODE_SIMULATED) != 0 {
            unsafe current?.willPark(for: word, owner, runner())
        }
    }

    /// Whether a slot of the thread with this number has the address; for a scheduler, while no
    /// other thread runs.
    package static func hasSlot(_ address: UInt, thread: UInt32) -> Bool {
        unsafe Threads.contains { record in
            unsafe record.pointee.identifier == thread && ThreadSlots.holds(record, address)
        }
    }

    /// How many threads have a record, which is how many a search of their slots visits.
    package static var threadCount: Int {
        Threads.records.withUnscheduledLock { unsafe $0.living.count }
    }

    /// The word on which the calling thread would park outside of a simulation.
    ///
    /// A waker that is not simulated leaves 1 there. So may a late waker of a thread that had the
    /// same record.
    package static var parkedWord: UnsafeRawPointer {
        unsafe UnsafeRawPointer(ec_thread_parked(Threads.own))
    }

    /// Frees the calling thread's thread-local values, as at its end.
    package static func forgetLocals() {
        if let thread = unsafe ec_thread_current(), unsafe thread.pointee.locals != nil {
            unsafe LocalTable.clear(of: thread)
        }
    }

    /// Holds the record's simulation, whose type C does not know.
    private final class Box {
        let simulation: any Simulation
        init(_ simulation: any Simulation) { self.simulation = simulation }
    }

    // MARK: - Jobs, submitted to a simulation or outside of it

    /// Runs `work` in the calling thread's simulation, with frames of `owner`; false outside of a
    /// simulation.
    ///
    /// For jobs that any thread may run: the simulation replaces the owner, whose name is `name`.
    @inline(__always)
    static func submit(
        _ work: @escaping Work, for owner: Frame.Owner, named name: @autoclosure () -> String
    ) -> Bool {
        guard isAnywhere else { return false }
        refuseInFork(name())
        guard let simulation = current else { return false }
        // Unsafe in name only: it is compared, and never dereferenced.
        nonisolated(unsafe) let owner = unsafe owner
        simulation.submit { unsafe Frame.enterJobs(of: owner) { work() } }
        return true
    }

    /// Reports that a job goes to what has this name, and that no simulation can replace it; traps
    /// in a forked child.
    @inline(__always)
    static func willSubmitOutside(to name: @autoclosure () -> String) {
        guard isAnywhere else { return }
        refuseInFork(name())
        current?.willSubmitOutside(to: name())
    }

    /// Whether a thread may be simulated, so that it is worth looking for the caller's simulation,
    /// or the process is a forked child, where no thread comes for a job.
    @inline(__always)
    package static var isAnywhere: Bool {
        ec_mode() & UInt32(EC_MODE_SIMULATED | EC_MODE_FORKED) != 0
    }

    /// The number of the calling thread; zero, which no thread has, if a thread may be simulated.
    package static var threadOutsideSimulations: UInt32 { isAnywhere ? 0 : thread }

    /// Whether this process is a child that was forked, and has not called exec.
    static var isForked: Bool { ec_mode() & UInt32(EC_MODE_FORKED) != 0 }

    private static func refuseInFork(_ name: @autoclosure () -> String) {
        require(
            !isForked,
            "A forked child gave a job to '\(name())', and has none of the parent's threads that would run it "
                + "(law 34). Call exec in the child, or fork before the library's first use.")
    }
}
