internal import CPlatform
internal import Synchronization

/// What is to be done after unlocking: threads to wake, turns to ask for, reads to run.
struct Aftermath: ~Copyable {
    var woken: [Parker] = []
    /// Whether to ask the carrier for a turn.
    var mustAsk = false
    /// How many reads have been counted in that a thread must come for.
    var readyReads = 0
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
        // Reads without a thread, and behind writes the readers in line, come in together: the writes that came
        // meanwhile would otherwise keep them out.
        // Not past one who has been overtaken too long.
        while !line.isFirstStarving, line.reads.hasFirst(upTo: line.completed), countIn(),
            let read = line.reads.popFirst()
        {
            line.ready.append(read)
            rest.readyReads += 1
        }
        if line.hasWrites {
            while let reader = unsafe line.next(isRead: true), countIn() {
                unsafe line.remove(reader)
                unsafe reader.pointee.isIn = true
                rest.woken.append(unsafe reader.pointee.parker)
            }
        }
        let inside = unsafe state.pointee.load(ordering: .sequentiallyConsistent)
        let isEmpty = ReadWriteState.readers(inside) == 0 && !hasClaims
        if line.completed < line.limit {
            if isEmpty, !line.isTurnComing {
                line.isTurnComing = true
                rest.mustAsk = true
            }
            if isEmpty || !line.ready.isEmpty { unsafe wake(line.firstHelper, &line, &rest) }
        } else if let next = unsafe line.next(isRead: !isEmpty) {
            unsafe wake(next, &line, &rest)
        } else if !line.ready.isEmpty {
            unsafe wake(line.firstHelper, &line, &rest)
        }
        // One who has become the first, and cannot enter, looks at the clock from now on.
        if rest.woken.isEmpty, let first = unsafe line.overtaken {
            unsafe first.pointee.isTiming = true
            rest.woken.append(unsafe first.pointee.parker)
        }
        publish(line.flags)
        return rest
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
        if rest.mustAsk { requestDrain(on: carrier) }
    }

    /// Lets in whose turn it is, after somebody has left.
    func settleAfterLeaving(_ thread: ThreadRecord) {
        unsafe see(to: line.withLock { settle(&$0) }, thread)
    }
}
