internal import CPlatform

/// How a thread waits.
///
/// 1. Spin for a moment, while admission is open.
/// 2. Look under the lock: enter, help, or join the wait queue and try once more.
/// 3. Park. A thread that leaves wakes one waiter, which repeats from step 2.
extension LockExclusion {
    /// Waits and enters; false if `deadline` came first.
    func wait(_ thread: ThreadRecord, _ request: WaitDetails.Request, until deadline: Int64) -> Bool
    {
        // A caller that gives up at once does not spin either.
        if unsafe deadline != .min && spin(thread, request) { return true }
        var details = unsafe WaitDetails(request, for: thread)
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
    /// The writes that the main thread waits for take about as long as one wake-up, that of the
    /// write context. To park costs a second wake-up, and more processor time than this. Where the
    /// other processors are busy it is in vain: after each such spin, more waits do without.
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
    /// A thread with a time limit may do so only on the write context, where no other thread could:
    /// a write may take any time.
    private func mayHelp(until deadline: Int64) -> Bool {
        if writeContext.isCurrent == true { return true }
        return deadline == Parker.never && writeContext.runsAnywhere && callerMayHelp
    }

    /// Spins for a moment: most reads and writes are short, and parking takes long.
    private func spin(_ thread: ThreadRecord, _ request: WaitDetails.Request) -> Bool {
        if unsafe thread.pointee.simulation != nil { return false }
        for _ in 0..<100 {
            // Spinning does not take the cache line from the thread that is inside.
            let now = admission.hint
            if !now.isExclusive {
                // Which waiter enters next is decided under the lock.
                if now.isClosed { return false }
                if request == .shared {
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
