internal import CPlatform
internal import Synchronization

/// How a thread waits at a coordinator.
extension ReadWriteCore {
    /// Waits and gets in; false if `deadline` came first.
    func wait(_ thread: ThreadRecord, _ wish: Waiter.Wish, until deadline: Int64) -> Bool {
        // Who gives up at once does not wait on the spot either.
        if unsafe deadline != .min && spin(thread, wish) { return true }
        var waiter = unsafe Waiter(thread, wish, helps: mayHelp(thread, until: deadline))
        waiter.helpsWithLost = unsafe deadline == Parker.never && !Threads.own.pointee.is_main
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
            case .foresee: unsafe waiter.pointee.foresee(Outlook.of(carrier).isUnclear)
            case .awaitTurn where awaitTurn(): continue
            case .awaitTurn: unsafe waiter.pointee.parker.park(until: deadline)
            case .park(let end):
                unsafe Seam.waits(for: state, writer, carrier.name)
                unsafe waiter.pointee.parker.park(until: end)
            }
        }
    }

    private enum Step {
        case enter, giveUp
        case park(until: Int64)
        /// The caller is inside alone, to run the writes before it.
        case help
        /// Whether the carrier can run the writes before the caller is to be found out.
        case foresee
        /// The writes before the caller wait for a turn on a carrier that may have to be driven, or
        /// never comes.
        case awaitTurn
    }

    /// Waits for the turn that the carrier has been asked for; false if the carrier drops what it
    /// is given.
    ///
    /// Drives a carrier that runs its jobs only while a thread does, and traps where the turn can
    /// never come (law 27).
    private func awaitTurn() -> Bool {
        AwaitedEnd.result(of: { () throws(Never) in }, from: carrier, named: name) {
            carrier.execute($0, refused: { _ in })
        } != nil
    }

    /// One look at what a waiter can do; under the lock.
    private func attempt(
        _ waiter: UnsafeMutablePointer<Waiter>, until deadline: Int64, _ line: inout WriteLine,
        _ rest: inout Aftermath
    ) -> Step {
        if unsafe waiter.pointee.isIn { return .enter }
        let wasWoken = unsafe waiter.pointee.isWoken
        var isInLine = unsafe waiter.pointee.isInLine
        if unsafe waiter.pointee.position == .max { unsafe waiter.pointee.position = line.submitted }
        if deadline == Parker.never, unsafe line.mustForesee(waiter) { return .foresee }
        if wasWoken {
            unsafe waiter.pointee.isWoken = false
            line.isWakePending = false
            // Before the look, so that who leaves after it wakes somebody.
            publish(line.flags)
        }
        while true {
            if let step = unsafe enter(waiter, &line, &rest) { return step }
            let now = unsafe Seam.now(waiter.pointee.thread)
            if deadline == .min || now >= deadline {
                if isInLine { unsafe line.remove(waiter) }
                rest = settle(&line)
                return .giveUp
            }
            if isInLine {
                let end = unsafe patience(waiter, now: now, &line)
                // While its wake-up was pending no other waiter was woken: it passes that on.
                if wasWoken { rest = settle(&line) }
                return unsafe awaitsTurn(waiter, line) ? .awaitTurn : .park(until: min(deadline, end))
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
        if unsafe waiter.pointee.position > line.completed {
            if unsafe line.mayHelp(waiter), line.completed < line.limit, unsafe tryExclude(thread) {
                return .help
            }
        } else if unsafe !line.isFirstStarving || line.waiting.first == waiter {
            let isIn =
                unsafe waiter.pointee.wish == .shared
                ? countIn() : !line.hasReadyJob(before: waiter) && tryExclude(thread)
            if isIn {
                unsafe leaveLine(waiter, &line, &rest)
                return .enter
            }
        }
        return nil
    }

    /// Whether a waiter needs a turn on the carrier, which has been asked for one.
    private func awaitsTurn(_ waiter: UnsafeMutablePointer<Waiter>, _ line: borrowing WriteLine) -> Bool {
        guard unsafe waiter.pointee.drives && waiter.pointee.position > line.completed && line.isTurnComing
        else { return false }
        // Relaxed: a thread that is inside alone settles when it leaves, under the lock that the
        // caller has now.
        return unsafe state.pointee.load(ordering: .relaxed) & ReadWriteState.exclusive == 0
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
            let isReader = unsafe waiter.pointee.wish == .shared
            let isDue = unsafe waiter.pointee.position <= line.completed
            guard unsafe isDue && (isReader || !line.hasReadyJob(before: waiter)) else {
                // A waiting writer stands between, or before a writer an enqueued read that is ready now.
                rest = leaveAlone(&line)
                return false
            }
            if isReader {
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
        return unsafe deadline == Parker.never && carrier.runsAnywhere && !Threads.own.pointee.is_main
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
