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

/// How the ones who wait get in.
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

    // MARK: Waiting

    /// Waits and gets in; false if `deadline` came first.
    func wait(_ thread: ThreadRecord, _ wish: Waiter.Wish, until deadline: Int64) -> Bool {
        if unsafe spin(thread, wish) { return true }
        var waiter = unsafe Waiter(thread, wish, helps: mayHelp(thread, until: deadline))
        waiter.helpsWithLost = unsafe deadline == Parker.never && !thread.pointee.is_main
        waiter.position = .max
        return unsafe withUnsafeMutablePointer(to: &waiter) { unsafe wait($0, until: deadline) }
    }

    private func wait(_ waiter: UnsafeMutablePointer<Waiter>, until deadline: Int64) -> Bool {
        let thread = unsafe waiter.pointee.thread
        while true {
            var rest = Aftermath()
            let step = line.withLock { line in
                unsafe attempt(waiter, until: deadline, &line, &rest)
            }
            unsafe see(to: rest, thread)
            switch step {
            case .enter: return true
            case .giveUp: return false
            case .help: if unsafe help(waiter) { return true }
            case .read(let read): unsafe runCounted(read, thread)
            case .rest(let end): unsafe waiter.pointee.parker.park(until: end)
            }
        }
    }

    private enum Step {
        case enter, giveUp
        case rest(until: Int64)
        /// The caller is inside alone, to run the writes before it.
        case help
        case read(Work)
    }

    /// One look at what a waiter can do; under the lock.
    private func attempt(
        _ waiter: UnsafeMutablePointer<Waiter>, until deadline: Int64, _ line: inout WriteLine,
        _ rest: inout Aftermath
    ) -> Step {
        if unsafe waiter.pointee.isIn { return .enter }
        let wasWoken = unsafe waiter.pointee.isWoken
        var isInLine = unsafe waiter.pointee.position != .max && waiter.pointee.isInLine
        if unsafe waiter.pointee.position == .max { unsafe waiter.pointee.position = line.submitted }
        if wasWoken {
            unsafe waiter.pointee.isWoken = false
            line.isWakePending = false
            // Before the look, so that who leaves after it wakes somebody.
            publish(line.flags)
        }
        while true {
            if let step = unsafe enter(waiter, &line, &rest) {
                // While its wake-up was pending nobody else was told; who does not enter passes it on.
                if wasWoken, case .read = step { rest = settle(&line) }
                return step
            }
            let now = unsafe Seam.now(waiter.pointee.thread)
            if deadline == .min || now >= deadline {
                if isInLine { unsafe line.remove(waiter) }
                rest = settle(&line)
                return .giveUp
            }
            if isInLine {
                let end = unsafe patience(waiter, now: now, &line)
                if wasWoken { rest = settle(&line) }
                return .rest(until: min(deadline, end))
            }
            unsafe line.waiting.append(waiter)
            unsafe waiter.pointee.isInLine = true
            isInLine = true
            publish(line.flags)
            // Once more: who left before the announcement told nobody.
        }
    }

    /// Until when one who could enter, but for others inside, lets itself be overtaken: then it closes the doors.
    ///
    /// By the clock and not when it is woken: readers each of whom comes before another leaves wake nobody.
    private func patience(
        _ waiter: UnsafeMutablePointer<Waiter>, now: Int64, _ line: inout WriteLine
    ) -> Int64 {
        guard unsafe line.waiting.first == waiter, unsafe waiter.pointee.position <= line.completed else {
            return Parker.never
        }
        unsafe waiter.pointee.isTiming = true
        let end = unsafe waiter.pointee.since + 1_000_000
        if now < end { return end }
        line.isFirstStarving = true
        publish(line.flags)
        return Parker.never
    }

    private func enter(
        _ waiter: UnsafeMutablePointer<Waiter>, _ line: inout WriteLine, _ rest: inout Aftermath
    ) -> Step? {
        let thread = unsafe waiter.pointee.thread
        let isHelping = unsafe line.mayHelp(waiter)
        if unsafe waiter.pointee.position > line.completed {
            if isHelping, line.completed < line.limit, unsafe tryExclude(thread) { return .help }
        } else if unsafe !line.isFirstStarving || line.waiting.first == waiter {
            let isIn = unsafe waiter.pointee.wish == .shared ? countIn() : tryExclude(thread)
            if isIn {
                unsafe leaveLine(waiter, &line, &rest)
                return .enter
            }
        }
        if isHelping, let read = line.ready.popFirst() { return .read(read) }
        return nil
    }

    private func leaveLine(
        _ waiter: UnsafeMutablePointer<Waiter>, _ line: inout WriteLine, _ rest: inout Aftermath
    ) {
        if unsafe waiter.pointee.isInLine { unsafe line.remove(waiter) }
        // Others may go on beside a reader; a writer has whoever waits wait on.
        if unsafe waiter.pointee.wish == .shared { rest = settle(&line) } else { publish(line.flags) }
    }

    /// Runs the writes before a waiter, which is inside alone; true if it got in that way.
    private func help(_ waiter: UnsafeMutablePointer<Waiter>) -> Bool {
        let thread = unsafe waiter.pointee.thread
        let ran = unsafe runWrites(to: waiter.pointee.position) { false }
        var rest = Aftermath()
        let isIn = line.withLock { line in
            line.completed += ran
            guard unsafe waiter.pointee.position <= line.completed else {
                // A waiting writer stands between.
                rest = leaveAlone(&line)
                return false
            }
            if unsafe waiter.pointee.wish == .shared {
                unsafe writer.pointee.store(0, ordering: .relaxed)  // As in `leaveAlone`.
                update { $0 & ~ReadWriteState.exclusive + ReadWriteState.reader }
            }
            unsafe leaveLine(waiter, &line, &rest)
            return true
        }
        unsafe see(to: rest, thread)
        return isIn
    }

    /// Whether a thread that waits may run the writes before it (law 20).
    ///
    /// One with a time limit only where nobody else could: a write takes what time it takes.
    private func mayHelp(_ thread: ThreadRecord, until deadline: Int64) -> Bool {
        if carrier.isCurrent == true { return true }
        return unsafe deadline == Parker.never && carrier.runsAnywhere && !thread.pointee.is_main
    }

    /// Waits on the spot for a moment: most reads and writes are short, and going to sleep is long.
    private func spin(_ thread: ThreadRecord, _ wish: Waiter.Wish) -> Bool {
        if unsafe thread.pointee.simulation != nil { return false }
        for _ in 0..<100 {
            // Relaxed looks, so that waiting does not take the line of memory from who is inside.
            let now = unsafe state.pointee.load(ordering: .relaxed)
            if now & ReadWriteState.exclusive != 0 {
                ec_relax()
                continue
            }
            // Whose turn it is is decided under the lock.
            if now & ReadWriteState.closed != 0 { return false }
            if wish == .shared {
                if tryCountReader() { return true }
            } else {
                // Only under the lock the bias is taken back.
                if now & (ReadWriteState.biased | ReadWriteState.claimed) != 0 { return false }
                if ReadWriteState.isVacant(now), unsafe tryEnterVacant(thread) { return true }
            }
            ec_relax()
        }
        return false
    }
}
