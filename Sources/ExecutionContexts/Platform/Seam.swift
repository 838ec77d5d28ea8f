public import CPlatform
public import Synchronization

/// What stands in the place of the system for a thread that runs under a simulator.
///
/// The primitives of coordination are words that they change atomically, and threads that sleep and are woken.
/// They do both through `Seam` and `Parker`, which ask the simulation of the calling thread, if it has one.
/// So a simulator explores the state machines that ship, not copies of them.
package protocol Simulation: AnyObject {
    /// The calling thread is about to read or change a word that others read or change.
    func willTouch(_ word: UnsafeRawPointer)

    /// The same, of what has no name.
    func willStep()

    /// The calling thread is about to try to take the lock with this owner's word, which holds zero or the number of
    /// the thread that has it. A scheduling point, too.
    func willEnter(_ owner: UnsafeRawPointer)

    /// The lock with this owner's word has been handed from the calling thread to another one.
    func didHandOver(_ owner: UnsafeRawPointer)

    /// The calling thread has found a lock taken and looks again and again: the others should have their turns.
    func willSpin(_ word: UnsafeRawPointer)

    /// What has this word is new, and people call it so.
    func didMake(_ word: UnsafeRawPointer, _ name: String)

    /// The calling thread is about to sleep until it may be inside of what has the word `state`: who is inside alone has
    /// its number in `writer`, and `carrier` runs what stands before it.
    func willWait(_ state: UnsafeRawPointer, _ writer: UnsafeRawPointer, _ carrier: String)

    /// Puts the calling thread to sleep until it is woken, or time is up: true if it was woken.
    func park(until deadline: Int64) -> Bool

    /// Wakes the thread of this number, or lets its next `park` return at once.
    func unpark(_ thread: UInt32)

    /// Runs `work` on a thread of its own: one that a pool has not to spare.
    func lend(_ work: @escaping @Sendable () -> Void)

    /// Runs `work` as a piece of the context that stands for the system's threads.
    func submit(_ work: @escaping @Sendable () -> Void)

    /// The calling thread has given work to the context of this name, which runs it where no schedule reaches.
    func didLeave(for name: String)

    /// Runs `body` with no scheduling point in it, but where it has to wait.
    func undivided(_ body: () -> Void)

    /// The simulated monotonic clock, in nanoseconds.
    var now: Int64 { get }
}

/// Where the short ways of coordination meet the simulator.
@usableFromInline
package enum Seam {
    /// Runs `body` with the calling thread under a simulation.
    package static func simulating<Result>(_ simulation: any Simulation, _ body: () -> Result) -> Result {
        let thread = unsafe Threads.own
        // Counted by hand: a lifetime that lasts to the end of a scope ends early where `body` does not return.
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

    /// How many threads run under a simulation. When there is none, everybody takes the short ways again.
    private static let simulated = Guarded(0)

    /// The mode may change while others are on their way: each way is right beside each other one.
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

    /// Runs what the language calls under a lock of its own, as it does a task's cancellation handler.
    ///
    /// A simulated thread that lost its turn in there would keep the lock from those who get the turn.
    package static func undivided(_ body: () -> Void) {
        guard let simulation = current else { return body() }
        simulation.undivided(body)
    }

    /// Makes what is made once in a process, with no scheduling point in it (law 33).
    ///
    /// A point in there would be one in the first schedule only. And a thread that lost its turn there would keep
    /// the language's own lock, for which no simulated thread can wait.
    package static func making<Made>(_ make: () -> Made) -> Made {
        guard let simulation = current else { return make() }
        var made: Made?
        simulation.undivided { made = make() }
        return made!
    }

    /// Has the simulator of the calling thread run `work` on another one; false where there is none, who could.
    static func lend(_ work: @escaping @Sendable () -> Void) -> Bool {
        guard let simulation = current else { return false }
        simulation.lend(work)
        return true
    }

    /// The monotonic clock, or the simulated one.
    static var now: Int64 {
        if ec_mode() & UInt32(EC_MODE_SIMULATED) != 0, let simulation = current { return simulation.now }
        return MonotonicClock.nanoseconds
    }

    static func now(_ thread: ThreadRecord) -> Int64 {
        unsafe simulation(of: thread)?.now ?? MonotonicClock.nanoseconds
    }

    /// A scheduling point; stands before the visible operation. Does nothing outside a simulation.
    @usableFromInline @inline(never)
    static func willTouch(_ word: UnsafeRawPointer) {
        guard let thread = unsafe ec_thread_current() else { return }
        unsafe simulation(of: thread)?.willTouch(word)
    }

    /// Takes a lock of `NativeLock` for a thread of a simulation, after a scheduling point; false for any other.
    static func lock(_ word: UnsafeRawPointer, try take: () -> Bool, isHeldInTurn: () -> Bool) -> Bool {
        guard let simulation = current else { return false }
        simulation.willStep()
        if take() { return true }
        // Some of the simulation's own stop inside, at the coordinator's handshakes.
        return unsafe wait(for: simulation, word, until: take, isHeldInTurn)
    }

    /// Waits for a lock under a simulator, where its holder may go on only when it gets the turn.
    ///
    /// Calls `take` until it returns true; false where no simulator is at work.
    static func wait(_ word: UnsafeRawPointer, until take: () -> Bool) -> Bool {
        guard let thread = unsafe ec_thread_current(), let simulation = unsafe simulation(of: thread) else {
            return false
        }
        return unsafe wait(for: simulation, word, until: take) { false }
    }

    private static func wait(
        for simulation: any Simulation, _ word: UnsafeRawPointer, until take: () -> Bool,
        _ isHeldInTurn: () -> Bool
    ) -> Bool {
        // A holder of no simulation goes on by itself. That this thread has met it must not show in the schedule.
        for _ in 0..<100_000 {
            if isHeldInTurn() { break }
            ec_relax()
            if take() { return true }
        }
        repeat { unsafe simulation.willSpin(word) } while !take()
        return true
    }

    /// The simulation of the calling thread.
    package static var current: (any Simulation)? {
        guard let thread = unsafe ec_thread_current() else { return nil }
        return unsafe simulation(of: thread)
    }

    /// A scheduling point for what is no primitive of this library; does nothing outside a simulation.
    package static func touch(_ word: UnsafeRawPointer) { unsafe willTouch(word) }

    /// Says what people call a thing, by its word. Only a simulation is interested.
    static func made(_ word: UnsafeRawPointer, _ name: @autoclosure () -> String) {
        if ec_mode() & UInt32(EC_MODE_SIMULATED) != 0 { unsafe current?.didMake(word, name()) }
    }

    static func handedOver(_ owner: UnsafeRawPointer) {
        if ec_mode() & UInt32(EC_MODE_SIMULATED) != 0 { unsafe current?.didHandOver(owner) }
    }

    /// Says what the calling thread is about to sleep for. Only a simulation is interested.
    static func waits(
        for state: UnsafeRawPointer, _ writer: UnsafeRawPointer, _ carrier: @autoclosure () -> String
    ) {
        if ec_mode() & UInt32(EC_MODE_SIMULATED) != 0 { unsafe current?.willWait(state, writer, carrier()) }
    }

    /// Whether the thread of this number reads what has the word; for a simulator, while nobody else runs.
    package static func isReading(_ state: UInt, thread: UInt32) -> Bool {
        unsafe Threads.contains { record in
            unsafe record.pointee.identifier == thread && HeldSlots.holds(record, state)
        }
    }

    /// How many threads have a record, which is how many a search for readers looks at.
    package static var threadCount: Int { Threads.count }

    /// The word that the calling thread would sleep on if it were not simulated: who wakes it from outside leaves 1
    /// there. So may one who came too late for a thread that had the same record.
    package static var parkedWord: UnsafeRawPointer {
        unsafe UnsafeRawPointer(ec_thread_parked(Threads.own))
    }

    /// Frees the values that the calling thread keeps, as at its end.
    package static func forgetLocals() {
        guard let thread = unsafe ec_thread_current() else { return }
        if unsafe thread.pointee.locals != nil { unsafe LocalTable.clear(of: thread) }
    }

    /// Writes a word and makes sure that the write is seen before what the caller reads next is read.
    ///
    /// In portable mode by a full barrier of its own. Else only the compiler is kept from moving things: whoever
    /// relies on the order calls `ec_barrier` between its own write and read. The fence before the write is for
    /// the compiler's reference counting, which would otherwise move a retain below it.
    @inlinable @inline(__always)
    static func publish(_ value: UInt32, in word: UnsafeMutablePointer<Atomic<UInt32>>, mode: UInt32) {
        ec_compiler_fence()
        if mode == 0 {
            // Releasing: what the caller did before is seen by who sees the value.
            unsafe word.pointee.store(value, ordering: .releasing)
            return ec_compiler_fence()
        }
        if mode & UInt32(EC_MODE_SIMULATED) != 0 { unsafe willTouch(word) }
        _ = unsafe word.pointee.exchange(value, ordering: .sequentiallyConsistent)
    }

    @inlinable @inline(__always)
    static func publish(_ value: UInt, in word: UnsafeMutablePointer<Atomic<UInt>>, mode: UInt32) {
        if mode == 0 { return unsafe publishAtOnce(value, in: word) }
        ec_compiler_fence()
        if mode & UInt32(EC_MODE_SIMULATED) != 0 { unsafe willTouch(word) }
        _ = unsafe word.pointee.exchange(value, ordering: .sequentiallyConsistent)
    }

    /// The same, for who knows that the mode is zero.
    @inlinable @inline(__always)
    static func publishAtOnce(_ value: UInt, in word: UnsafeMutablePointer<Atomic<UInt>>) {
        ec_compiler_fence()
        // Releasing, as above.
        unsafe word.pointee.store(value, ordering: .releasing)
        ec_compiler_fence()
    }

    /// A scheduling point, if a simulator is at work anywhere.
    @inlinable @inline(__always)
    static func point(_ word: UnsafeRawPointer, mode: UInt32) {
        if mode & UInt32(EC_MODE_SIMULATED) != 0 { unsafe willTouch(word) }
    }

    /// A scheduling point before an operation on a word that people have no name for.
    @inlinable @inline(__always)
    package static func point() {
        if ec_mode() & UInt32(EC_MODE_SIMULATED) != 0 { pointOfSimulation() }
    }

    @usableFromInline @inline(never)
    static func pointOfSimulation() { current?.willStep() }

    /// A scheduling point before a lock is tried, if a simulator is at work anywhere.
    @inlinable @inline(__always)
    static func attempt(_ owner: UnsafeRawPointer, mode: UInt32) {
        if mode & UInt32(EC_MODE_SIMULATED) != 0 { unsafe willEnter(owner) }
    }

    @usableFromInline @inline(never)
    static func willEnter(_ owner: UnsafeRawPointer) { unsafe current?.willEnter(owner) }

    /// Holds the record's simulation, whose type is not known to C.
    private final class Box {
        let simulation: any Simulation
        init(_ simulation: any Simulation) { self.simulation = simulation }
    }
}
