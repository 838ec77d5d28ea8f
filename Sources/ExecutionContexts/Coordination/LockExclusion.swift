internal import CPlatform
internal import Dispatch
internal import Synchronization

/// Excludes by the word, by reader slots, and by a state machine under a lock.
///
/// It drains the writes on the write context, as a view does. Only slow decisions take the lock. A
/// requested drain keeps it alive, so releasing the coordinator drops no write (law 19).
@safe
final class LockExclusion: Drainer, ReadWriteExclusion, @unchecked Sendable {
    // Unchecked: the word is atomic, the state machine has a lock, and the batch belongs to the
    // thread that is inside exclusively.
    let name: String
    let writeContext: any ExecutionContext
    let admission: Admission
    private let machine: Guarded<ReadWriteStateMachine>
    /// Writes that were taken from the queue and have not run.
    @exclusivity(unchecked) private var batch = WorkQueue()
    /// Which waits begin with a spin; only the main thread accesses it.
    @exclusivity(unchecked) private var mainSpins = MainSpins()
    /// Whether the main thread runs no writes, and waits for another thread that does.
    private let sparesMain: Bool

    /// Whether the calling thread may run writes off the write context.
    private var callerMayHelp: Bool { unsafe !(sparesMain && Threads.own.pointee.is_main) }

    init(name: String, writeContext: some ExecutionContext, sparesMain: Bool = true) {
        self.name = name
        self.sparesMain = sparesMain
        self.writeContext = writeContext
        admission = Admission(isClosed: false, name: name)
        machine = Guarded(ReadWriteStateMachine(admission))
        super.init(over: writeContext)
    }

    override var drainedName: String { name }

    deinit { admission.free() }

    // MARK: Entering

    func enterToRead(_ thread: ThreadRecord, hasAnnounced: Bool, until deadline: Int64)
        -> AccessEntry?
    {
        if hasAnnounced, unsafe admission.withdraw(ReaderSlots.first(thread)) {
            unsafe admitNext(thread)
        }
        let slot = unsafe ReaderSlots.push(thread)
        if admission.latest.isOpenToSlotReaders {
            unsafe admission.announce(in: slot)
            if admission.latest.isOpenToSlotReaders { return .announced }
            if unsafe admission.withdraw(slot) { unsafe admitNext(thread) }
        }
        if !admission.tryCountReader() {
            // Admission may be closed: a thread inside must not wait for those that wait for it
            // (law 18).
            let isNested = unsafe admission.isThreadWriting(thread) || admission.isReading(thread)
            let isHeld = !isNested && admission.holdAgain()
            guard unsafe !isNested && !isHeld && wait(thread, toRead: true, until: deadline) else {
                unsafe ReaderSlots.pop(thread)
                return isNested ? .nested : isHeld ? .held : nil
            }
        }
        unsafe admission.mark(slot)
        return .counted
    }

    func enterToWrite(_ thread: ThreadRecord, until deadline: Int64) -> AccessEntry? {
        if admission.holdAgain() { return .held }
        if unsafe admission.tryEnterVacant(thread) { return .alone }
        unsafe refuseWriteInsideRead(thread)
        return unsafe wait(thread, toRead: false, until: deadline) ? .alone : nil
    }

    func admitNext(_ thread: ThreadRecord) {
        unsafe perform(machine.withLock { $0.admitNext() }, thread)
    }

    func hold() -> ExclusiveHold {
        let thread = unsafe Threads.current
        if unsafe admission.isThreadWriting(thread) { return .nothing }
        if unsafe enterToWrite(thread, until: Parker.never) != .held {
            unsafe admission.holdOwner.pointee.begin()
            admission.markHeld()
        }
        return ExclusiveHold(releasing: { [self] in
            if admission.endHold() { unsafe admitNext(Threads.current) }
        })
    }

    // MARK: Submitting

    func enqueueWrite(_ write: consuming @escaping Work, later: Bool) {
        // Unmanaged: the captures are released where the write ran, not by the submitter (law 10).
        let write = UnmanagedWork(writeContext.bound(consume write))
        guard machine.withLock({ $0.enqueueWrite(write.assembled()) }) else { return }
        later ? requestDrainLater(on: writeContext) : requestDrain(on: writeContext)
    }

    /// The read joins the wait queue like a thread, so no later write overtakes it.
    func enqueueRead(_ read: consuming @escaping Work) {
        let thread = unsafe Threads.current
        // Unmanaged, as a write is.
        let read = UnmanagedWork(consume read)
        unsafe perform(
            machine.withLock { unsafe $0.enqueueRead(read.assembled(), by: thread) }, thread)
    }

    func foreseeWrite(_ forecast: inout WaitForecast) { forecast.followUnlessHelped(writeContext) }

    // MARK: Drains

    override func drain() {
        runDrains(on: writeContext) { unsafe drainOnce(Threads.current) }
    }

    override func drainWasDropped() {
        machine.withLock { $0.noteDroppedDrain() }
        // The writes were accepted and outlive the drain: the pool or a waiter runs them.
        GlobalContext().execute { self.drain() }
        unsafe admitNext(Threads.current)
    }

    private func perform(_ effects: consuming Effects, _ thread: ThreadRecord) {
        for parker in effects.unparks { unsafe parker.unpark(by: thread) }
        for _ in 0..<effects.readsToRun { GlobalContext().execute { self.runReadyRead() } }
        if let begun = effects.reserve { scheduleReserve(since: begun) }
        if effects.mustRequestDrain { requestDrain(on: writeContext) }
    }

    // MARK: Writes

    /// Runs writes within one drain budget; true if no further drain is needed.
    private func drainOnce(_ thread: ThreadRecord) -> Bool {
        // If another caller is inside, it requests the next drain when it leaves.
        guard machine.withLock({ unsafe $0.beginDrain(thread) }) else { return true }
        var budget = DrainBudget()
        let ran = runWrites(to: .max) { budget.spend() }
        var effects = machine.withLock { $0.endDrain(ran: ran) }
        let isMoreToDo = effects.mustRequestDrain
        effects.mustRequestDrain = false
        unsafe perform(effects, thread)
        return !isMoreToDo
    }

    /// Runs the writes before a waiter that is inside exclusively; true if it entered that way.
    private func help(_ waiter: WaiterPointer) -> Bool {
        // Of other callers than the one that waits (law 38).
        var ran: UInt64 = 0
        Deadline.without {
            ran = unsafe runWrites(to: waiter.pointee.details.position) { false }
        }
        var effects = Effects()
        let isInside = machine.withLock { unsafe $0.endHelping(waiter, ran: ran, &effects) }
        unsafe perform(effects, waiter.pointee.thread)
        return isInside
    }

    /// Runs writes, inside exclusively, until `isSpent` or up to `position`; returns how many.
    private func runWrites(to position: UInt64, until isSpent: () -> Bool) -> UInt64 {
        var ran: UInt64 = 0
        let before = machine.withLock { $0.completed }
        while before + ran < position {
            if unsafe batch.isEmpty {
                machine.withLock { unsafe $0.takeWrites(into: &batch, ran: ran) }
            }
            guard let write = unsafe batch.popFirst() else { break }
            write()
            ran += 1
            if isSpent() { break }
        }
        return ran
    }

    // MARK: Enqueued reads

    private func runReadyRead() {
        // The reserve thread may have run it already.
        var read = machine.withLock { $0.takeReadyRead() }
        if read != nil { runCounted(&read) }
    }

    /// Starts the reserve thread in a millisecond, for the admitted reads.
    ///
    /// An admitted read keeps writers out. If every thread of the global context waits for those
    /// writers, none is left for the read. A dispatch queue of its own gets a thread all the same.
    private func scheduleReserve(since begun: UInt64) {
        DispatchStart.requireTimers()
        DispatchQueue(label: "\(name).reads").asyncAfter(deadline: .now() + .milliseconds(1)) {
            self.runReserve(since: begun)
        }
    }

    /// Runs the admitted reads, unless one has begun since the reserve thread was scheduled.
    private func runReserve(since begun: UInt64) {
        var effects = Effects()
        var read = machine.withLock { $0.takeReserveRead(since: begun, &effects) }
        // Before the read: it may wait for another one behind it.
        unsafe perform(effects, Threads.current)
        while read != nil {
            runCounted(&read)
            read = machine.withLock { $0.takeReadyRead() }
        }
    }

    /// Runs an admitted read, and frees it before it leaves the count (law 10).
    private func runCounted(_ read: inout Work?) {
        admission.markingRead { read.take()?() }
        if admission.leaveCounted() { unsafe admitNext(Threads.current) }
    }

    // MARK: Waiting

    /// Waits and enters; false if `deadline` came first.
    ///
    /// 1. Spin for a moment, while admission is open.
    /// 2. Look under the lock: enter, help, or join the wait queue and try once more.
    /// 3. Park. A thread that leaves wakes one waiter, which repeats from step 2.
    private func wait(_ thread: ThreadRecord, toRead isReader: Bool, until deadline: Int64) -> Bool
    {
        // A caller that gives up at once does not spin either.
        if unsafe deadline != .min && spin(thread, isReader) { return true }
        var details = unsafe WaitDetails(isReader: isReader, for: thread)
        details.helps = mayHelp(until: deadline)
        details.helpsWithDropped = deadline == Parker.never && callerMayHelp
        details.position = .max
        var waiter = unsafe Waiter(thread, details)
        return unsafe withUnsafeMutablePointer(to: &waiter) { unsafe wait($0, until: deadline) }
    }

    private func wait(_ waiter: WaiterPointer, until deadline: Int64) -> Bool {
        while true {
            var effects = Effects()
            let step = machine.withLock { unsafe $0.look(waiter, until: deadline, &effects) }
            unsafe perform(effects, waiter.pointee.thread)
            switch step {
            case .enter: return true
            case .giveUp: return false
            case .help: if unsafe help(waiter) { return true }
            case .forecast:
                unsafe waiter.pointee.details.foresee(WaitForecast.of(writeContext).isUnclear)
            case .awaitDrain where awaitDrain(): continue
            case .awaitDrain: unsafe waiter.pointee.parker.park(until: deadline)
            case .park(let end):
                unsafe SimulationHooks.willPark(
                    for: admission.word, admission.exclusiveThread, writeContext.name)
                if unsafe Threads.own.pointee.is_main { unsafe spin(waiter, until: end) }
                unsafe waiter.pointee.parker.park(until: end)
            }
        }
    }

    /// Spins before the main thread parks, where another processor can run the write context.
    ///
    /// The writes that it waits for take about as long as one wake-up, that of the write context.
    /// To park costs a second wake-up, and more processor time than this. Where the other
    /// processors are busy it is in vain: after each such spin, more waits do without.
    private func spin(_ waiter: WaiterPointer, until deadline: Int64) {
        guard Processors.count > 1, unsafe mainSpins.isNext() else { return }
        let parker = unsafe waiter.pointee.parker
        let end = unsafe SimulationHooks.now(waiter.pointee.thread) + MainSpins.duration
        unsafe mainSpins.note(parker.spin(until: min(end, deadline)))
    }

    /// Waits for the requested drain; false if the write context drops the jobs it is given.
    ///
    /// Drives a write context that runs its jobs only while a thread drives it, and traps where the
    /// drain can never begin (law 27).
    private func awaitDrain() -> Bool {
        AwaitedEnd.result(of: { () throws(Never) in }, from: writeContext, named: name) {
            writeContext.execute($0, refused: { _ in })
        } != nil
    }

    /// Whether a waiting thread may run the writes before it (law 20).
    ///
    /// With a time limit it may do so only on the write context: a write may take any time.
    private func mayHelp(until deadline: Int64) -> Bool {
        if writeContext.isCurrent == true { return true }
        return deadline == Parker.never && writeContext.runsAnywhere && callerMayHelp
    }

    /// Spins for a moment: most reads and writes are short, and parking takes long.
    private func spin(_ thread: ThreadRecord, _ isReader: Bool) -> Bool {
        if unsafe thread.pointee.simulation != nil { return false }
        for _ in 0..<100 {
            // Spinning does not take the cache line from the thread that is inside.
            let now = admission.hint
            if !now.isExclusive {
                // Which waiter enters next is decided under the lock.
                if now.isClosed { return false }
                if isReader {
                    if admission.tryCountReader() { return true }
                } else {
                    // The bias is revoked only under the lock.
                    if now.isBiased || now.isRevoking { return false }
                    if now.isVacant, unsafe admission.tryEnterVacant(thread) { return true }
                }
            }
            ec_relax()
        }
        return false
    }
}

/// Which waits of the main thread begin with a spin.
package struct MainSpins {
    /// How long the main thread spins, in nanoseconds.
    static var duration: Int64 { 30_000 }
    /// How many waits do without a spin after spins in vain: 2, 4, and so on up to this.
    private static var mostSkipped: UInt8 { 64 }

    private var skipped: UInt8 = 1
    private var left: UInt8 = 0

    package init() {}

    /// Whether the present wait begins with a spin.
    package mutating func isNext() -> Bool {
        if left == 0 { return true }
        left -= 1
        return false
    }

    /// Records whether the thread was unparked while it spun.
    package mutating func note(_ wasUnparked: Bool) {
        skipped = wasUnparked ? 1 : min(2 * skipped, Self.mostSkipped)
        left = wasUnparked ? 0 : skipped
    }
}
