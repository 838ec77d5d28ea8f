internal import ExecutionContexts

// What manual contexts need of it.
extension ManualTime {
    func open(_ line: ManualLine) { state.withLock { $0.lines.append(line) } }

    /// Forgets a line whose context is gone, as soon as it is empty.
    func close(_ line: ManualLine) {
        state.withLock { state in
            line.isOwned = false
            if line.count == 0 { state.lines.removeAll { $0 === line } }
        }
    }

    func submit(_ work: @escaping Work, to line: ManualLine) {
        state.withLock { $0.submit(work, to: line) }.tell()
    }

    func isRunning(_ line: ManualLine) -> Bool { state.withLock { $0.isRunning(line) } }

    var isEmpty: Bool { state.withLock { $0.isEmpty } }

    func readyCount(of line: ManualLine) -> Int { state.withLock { _ in line.count } }

    func delayedCount(of line: ManualLine) -> Int { state.withLock { $0.delayedCount(of: line) } }

    func pending(of line: ManualLine?) -> [PendingWork] {
        let (ready, delays) = state.withLock { $0.pending(of: line) }
        // A context's name may be anybody's code, so it is asked for outside the lock (law 9).
        return ready.map { PendingWork($0, of: $1) } + delays.map { PendingWork($0) }
    }

    func step(_ line: ManualLine?, _ name: String) -> Bool { driving(name) { runOne(line) } }

    func runReady(_ line: ManualLine?, _ name: String) -> Int {
        driving(name) { runAll(line, upTo: nil, name) }
    }

    func advance(to moment: Moment, _ name: String) {
        driving(name) {
            _ = runAll(nil, upTo: moment, name)
            state.withLock { $0.now = max($0.now, moment) }
        }
    }

    func runUntilIdle(_ limit: Int, _ name: String, _ origin: String) throws -> Int {
        var count = 0
        _ = try run(name, origin, limit: limit, count: &count) { state.withLock { $0.foreground == 0 } }
        return count
    }

    /// Runs everything, moving time on, until `isOver`; false if nothing is pending before.
    func run(
        _ name: String, _ origin: String, limit: Int, count: inout Int, until isOver: () -> Bool
    ) throws -> Bool {
        try driving(name) {
            while !isOver() {
                guard count < limit else { throw failure(.neverIdle(afterPieces: limit), name, origin) }
                guard runOne(nil, upTo: .never) else { return isOver() }
                count += 1
            }
            return true
        }
    }

    /// Calls `tell` with true when something is submitted, at once if something is pending.
    func onArrival(_ tell: @escaping @Sendable (Bool) -> Void) {
        let (isHere, other) = state.withLock { state -> (Bool, (@Sendable (Bool) -> Void)?) in
            guard state.isEmpty else { return (true, nil) }
            let other = state.arrival
            state.arrival = tell
            return (false, other)
        }
        if isHere { tell(true) }
        // Two that wait under one time take turns: whoever waited before looks again.
        other?(true)
    }

    func finish(_ line: ManualLine?, _ name: String, _ origin: String) throws {
        let failure = failure(.unfinished, name, origin, of: line)
        // What is let go of may submit something, so there are several rounds; not endlessly many.
        for _ in 0..<100 {
            let (ready, delays) = state.withLock { $0.takeAll(of: line) }
            if ready.isEmpty, delays.isEmpty { break }
            for waiting in delays { waiting.delay.cancel() }
        }
        if failure.pending.contains(where: { !$0.isBackground }) { throw failure }
    }

    func failure(
        _ reason: ManualFailure.Reason, _ name: String, _ origin: String, of line: ManualLine? = nil
    ) -> ManualFailure {
        var pending = pending(of: line)
        if reason == .unfinished { pending.removeAll { $0.isBackground } }
        return ManualFailure(reason: reason, context: name, origin: origin, pending: pending)
    }

    // MARK: Running

    /// Fires what is due, and runs one piece, moving time on up to `limit` for it; false if there is none.
    private func runOne(_ line: ManualLine?, upTo limit: Moment? = nil) -> Bool {
        while true {
            var turn = state.withLock { $0.next(line, upTo: limit) }
            if turn.due.isEmpty {
                guard turn.piece != nil else { return false }
                // The closure is gone when this statement ends: it is freed on the context that ran it (law 10).
                Caller.runJob(of: self) { turn.piece.take()?.work() }
                return true
            }
            turn.due[0].fire()
            for delay in turn.due.dropFirst() {
                state.withLock { $0.willFire(delay) }
                delay.fire()
            }
        }
    }

    private func runAll(_ line: ManualLine?, upTo moment: Moment?, _ name: String) -> Int {
        var count = 0
        while runOne(line, upTo: moment) {
            count += 1
            require(
                count < limit,
                "'\(name)' ran \(limit) pieces of work in one call, and there is always one more (law 7): "
                    + "\(pending(of: nil).first.map { "\($0)" } ?? "none is pending now"). Cancel what repeats, or advance "
                    + "by less.")
        }
        return count
    }

    /// Keeps other threads from moving this time on meanwhile.
    ///
    /// A thread that only drives because it waits for a job is waited for: the test need not know
    /// of it.
    private func driving<Result>(_ name: String, _ body: () throws -> Result) rethrows -> Result {
        let caller = Seam.caller
        let turn = AwaitedEnd()
        while let driver = state.withLock({ $0.beginDriving(caller, orRouse: turn) }) {
            if driver.thread == caller || !driver.isWaiter {
                let how = driver.thread == caller ? "from within its own work" : "by two threads at a time"
                stopMisuse(
                    "'\(name)' was told to run \(how): it is serial (law 2). Let the test run it, and the work submit."
                )
            }
            turn.doze()
        }
        defer { endDriving() }
        return try body()
    }

    private func endDriving() {
        let sleepers = state.withLock { state in
            state.rest()
            state.driver = nil
            defer { state.sleepers = [] }
            return state.sleepers
        }
        for sleeper in sleepers { sleeper.rouse() }
    }

    // MARK: Being waited for

    /// Runs what is ready on a line until the end has come; for a thread that waits for a job of
    /// the line.
    ///
    /// Where another thread moves this time on, that one may run it. Where the caller does so
    /// itself, and waits inside a job of another line, this line's jobs run inside that one.
    func drive(_ line: ManualLine, until end: AwaitedEnd) {
        while !end.isOver {
            let caller = Seam.caller
            let isInside = state.withLock { state -> Bool? in
                guard let driver = state.driver else {
                    state.driver = .init(thread: caller, isWaiter: true)
                    return false
                }
                guard driver.thread == caller else { return nil }
                state.beginInside()
                return true
            }
            if let isInside {
                while !end.isOver, runOne(line) {}
                isInside ? state.withLock { $0.endInside() } : endDriving()
            }
            let mustWait = state.withLock { state in
                if end.isOver || line.count > 0 && (state.driver == nil || state.driver?.thread == caller) {
                    return false
                }
                state.sleepers.append(end)
                return true
            }
            if mustWait { end.doze() }
        }
    }
}
