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
                unsafe waiter.pointee.parker.park(until: end)
            }
        }
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
