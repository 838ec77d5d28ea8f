internal import CPlatform
internal import Synchronization

/// What is to be done after unlocking: threads to wake, turns to ask for, reads to run.
struct Aftermath: ~Copyable {
    var woken: [Parker] = []
    /// Whether to ask the carrier for a turn.
    var mustAsk = false
    /// How many reads have been counted in that a thread must come for.
    var readyReads = 0
    /// Whether to have a thread of the system's come for them if no other does.
    var mustCallReserve = false
}

/// How those who can go on are let in, woken or asked for.
extension ReadWriteCore {
    /// Leaves the inside, where the caller was alone, and lets in whose turn it is; under the lock.
    func leaveAlone(_ line: inout WriteLine) -> Aftermath {
        // Relaxed: only the thread itself looks for its own number.
        unsafe writer.pointee.store(0, ordering: .relaxed)
        publish(line.flags, clearing: ReadWriteState.exclusive)
        return settle(&line)
    }

    /// Lets in, wakes or asks for whoever can go on now; under the lock.
    func settle(_ line: inout WriteLine) -> Aftermath {
        var rest = Aftermath()
        // First, so that who is inside now, or enters beside this, settles again when it leaves.
        publish(line.flags)
        unsafe Seam.point(state, mode: ec_mode())
        let now = unsafe state.pointee.load(ordering: .sequentiallyConsistent)
        if now & ReadWriteState.exclusive != 0 { return rest }
        letReadersIn(&line, &rest)
        if !line.ready.isEmpty, !line.isReserveComing, Seam.current == nil {
            line.isReserveComing = true
            rest.mustCallReserve = true
        }
        let inside = unsafe state.pointee.load(ordering: .sequentiallyConsistent)
        let isEmpty = ReadWriteState.readers(inside) == 0 && !hasClaims
        if line.completed < line.limit {
            if isEmpty, !line.isTurnComing {
                line.isTurnComing = true
                rest.mustAsk = true
            }
            if isEmpty { unsafe wake(line.firstHelper, &line, &rest) }
        } else if let next = unsafe line.next(isRead: !isEmpty) {
            unsafe wake(next, &line, &rest)
        }
        // One who has become the first, and cannot enter, looks at the clock from now on.
        if rest.woken.isEmpty, let first = unsafe line.overtaken {
            unsafe first.pointee.isTiming = true
            rest.woken.append(unsafe first.pointee.parker)
        }
        publish(line.flags)
        return rest
    }

    /// Counts in the enqueued reads that are ready, and behind writes the readers in line: the writes that came
    /// meanwhile would otherwise keep them out. No reader passes a first waiter that has been overtaken for
    /// too long.
    private func letReadersIn(_ line: inout WriteLine, _ rest: inout Aftermath) {
        guard line.jobs > 0 || line.hasWrites else { return }
        var next = unsafe line.waiting.first
        while let waiter = unsafe next {
            unsafe next = line.waiting.next(after: waiter)
            let isJob = unsafe waiter.pointee.job != nil
            let isReady = unsafe waiter.pointee.position <= line.completed
            guard unsafe isReady && waiter.pointee.wish == .shared && (isJob || line.hasWrites) else {
                // Behind a read that waits for writes nothing is ready.
                if line.isFirstStarving || isJob { return }
                continue
            }
            guard countIn() else { return }
            if isJob {
                guard let read = unsafe line.removeJob(waiter) else { continue }
                line.ready.append(read)
                rest.readyReads += 1
            } else {
                unsafe line.remove(waiter)
                unsafe waiter.pointee.isIn = true
                rest.woken.append(unsafe waiter.pointee.parker)
            }
        }
    }

    private func wake(
        _ waiter: UnsafeMutablePointer<Waiter>?, _ line: inout WriteLine, _ rest: inout Aftermath
    ) {
        guard let waiter = unsafe waiter, !line.isWakePending else { return }
        line.isWakePending = true
        unsafe waiter.pointee.isWoken = true
        rest.woken.append(unsafe waiter.pointee.parker)
    }

    /// Counts a reader in whether or not the doors are closed, as long as nobody is inside alone.
    func countIn() -> Bool {
        update { $0 & ReadWriteState.exclusive == 0 ? $0 + ReadWriteState.reader : nil } != nil
    }

    /// Does what was left to do, after unlocking.
    func see(to rest: consuming Aftermath, _ thread: ThreadRecord) {
        for parker in rest.woken { unsafe parker.unpark(by: thread) }
        for _ in 0..<rest.readyReads { GlobalContext().execute { self.runReadyRead() } }
        if rest.mustCallReserve { callReserve(seen: line.withLock { $0.begun }) }
        if rest.mustAsk { requestDrain(on: carrier) }
    }

    /// Lets in whose turn it is, after somebody has left.
    func settleAfterLeaving(_ thread: ThreadRecord) {
        unsafe see(to: line.withLock { settle(&$0) }, thread)
    }
}
