internal import CPlatform
internal import Dispatch

/// Runs what the state machine admits: effects, enqueued writes, and enqueued reads.
extension LockExclusion {
    /// Performs the effects, after unlocking.
    func perform(_ effects: consuming Effects, _ thread: ThreadRecord) {
        for parker in effects.unparks { unsafe parker.unpark(by: thread) }
        for _ in 0..<effects.readsToRun { GlobalContext().execute { self.runReadyRead() } }
        if let begun = effects.reserve { scheduleReserve(since: begun) }
        if effects.mustRequestDrain { requestDrain(on: writeContext) }
    }

    // MARK: Writes

    /// Runs writes within one drain budget; true if no further drain is needed.
    func drainOnce(_ thread: ThreadRecord) -> Bool {
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
    func help(_ waiter: WaiterPointer) -> Bool {
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
            guard let write = nextWrite(ran: ran) else { break }
            write()
            ran += 1
            if isSpent() { break }
        }
        return ran
    }

    private func nextWrite(ran: UInt64) -> Work? {
        if let write = unsafe batch.popFirst() { return write }
        machine.withLock { unsafe $0.takeWrites(into: &batch, ran: ran) }
        return unsafe batch.popFirst()
    }

    // MARK: Enqueued reads

    private func runReadyRead() {
        // The reserve thread may have run it already.
        var read = machine.withLock { $0.takeReadyRead() }
        if read != nil { runCounted(&read) }
    }

    /// Starts a system thread in a millisecond for the admitted reads: the reserve thread.
    ///
    /// An admitted read keeps writers out. If every thread of the global context waits for those
    /// writers, none is left for the read. A dispatch queue of its own gets a thread all the same.
    private func scheduleReserve(since begun: UInt64) {
        DispatchStart.requireTimers()
        DispatchQueue(label: "\(name).reads").asyncAfter(deadline: .now() + .milliseconds(1)) {
            self.runReserve(since: begun)
        }
    }

    /// Runs the admitted reads, unless one of them has begun since the reserve thread was
    /// scheduled.
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
}
