internal import ExecutionContexts

/// What a manual time knows. It decides what is to be done; that is done outside the lock (law 9).
struct ManualState {
    /// What a step consists of: delays to fire, or else a piece to run, or nothing.
    struct Turn {
        var due: [DelayedWork] = []
        var piece: ManualLine.Piece?
    }

    var now = Moment(nanoseconds: 0)
    var lines: [ManualLine] = []
    /// The thread that moves it on.
    struct Driver {
        let thread: UInt32
        /// Whether it does so only until a job that it waits for has ended.
        var isWaiter = false
    }

    var driver: Driver?
    /// Whoever waits for something to be submitted.
    var arrival: (@Sendable (Bool) -> Void)?
    /// Those who wait for a job that this time, or another thread that moves it on, has to run.
    var sleepers: [AwaitedEnd] = []
    private var delays = DelayHeap()
    private var lastOrder: UInt64 = 0
    private typealias Running = (line: ManualLine, thread: UInt32)
    private var running: Running?
    /// What waits for a job of another context, which runs meanwhile, inside it.
    private var outer: [Running?] = []
    private var firing: (delay: DelayedWork, thread: UInt32)?
    /// How much is pending, delays and ready pieces, that is not background work.
    private(set) var foreground = 0

    /// Has the caller move this time on, and returns nil; or returns who does already.
    ///
    /// Where that is another thread that waits for a job, `sleeper` is roused when it has ended.
    mutating func beginDriving(_ caller: UInt32, orRouse sleeper: AwaitedEnd) -> Driver? {
        guard let driver else {
            driver = Driver(thread: caller)
            return nil
        }
        if driver.isWaiter, driver.thread != caller { sleepers.append(sleeper) }
        return driver
    }

    // MARK: Submitting

    /// Those to be told, outside the lock, that there is something to look at.
    struct Listeners {
        fileprivate(set) var arrival: (@Sendable (Bool) -> Void)?
        fileprivate(set) var sleepers: [AwaitedEnd] = []

        func tell() {
            arrival?(true)
            for sleeper in sleepers { sleeper.rouse() }
        }
    }

    mutating func takeListeners() -> Listeners {
        defer { sleepers = [] }
        return Listeners(arrival: arrival.take(), sleepers: sleepers)
    }

    /// Puts a piece at the end of a line; returns whom to tell.
    mutating func submit(_ work: @escaping Work, to line: ManualLine) -> Listeners {
        lastOrder += 1
        // A delay that is being fired submits on the same thread, perhaps by way of a view.
        let delay = firing.flatMap { $0.thread == Seam.caller ? $0.delay : nil }
        line.append(.init(work: work, order: lastOrder, since: now, delay: delay))
        if !line.isBackground { foreground += 1 }
        return takeListeners()
    }

    mutating func add(_ waiting: DelayHeap.Waiting) -> Listeners {
        lastOrder += 1
        delays.add(waiting, order: lastOrder)
        if waiting.isForeground { foreground += 1 }
        return takeListeners()
    }

    mutating func remove(_ delay: DelayedWork) -> DelayHeap.Waiting? {
        let removed = delays.remove(delay)
        if removed?.isForeground == true { foreground -= 1 }
        return removed
    }

    // MARK: Running

    /// The next step of one line, or of all; if nothing is due now, time moves on to the next delay up to `limit`.
    mutating func next(_ only: ManualLine?, upTo limit: Moment?) -> Turn {
        rest()
        while true {
            var turn = Turn()
            while let waiting = delays.popDue(at: now) {
                if waiting.isForeground { foreground -= 1 }
                turn.due.append(waiting.delay)
            }
            if let first = turn.due.first {
                willFire(first)
                return turn
            }
            if let line = only ?? firstLine, let piece = line.popFirst() {
                if !line.isBackground { foreground -= 1 }
                if !line.isOwned, line.count == 0 { lines.removeAll { $0 === line } }
                running = (line, Seam.caller)
                turn.piece = piece
                return turn
            }
            guard let limit, let next = delays.next, next <= limit else { return turn }
            now = max(now, next)
        }
    }

    /// From here on this thread submits whatever it submits on behalf of a delay, until the next step.
    mutating func willFire(_ delay: DelayedWork) { firing = (delay, Seam.caller) }

    /// Nothing runs, and nothing is being fired.
    mutating func rest() {
        running = nil
        firing = nil
    }

    func isRunning(_ line: ManualLine) -> Bool {
        let caller = Seam.caller
        return (outer + [running]).contains { $0?.line === line && $0?.thread == caller }
    }

    /// A thread that moves this time on waits for a job of another line, and runs that line's
    /// meanwhile.
    mutating func beginInside() {
        outer.append(running)
        running = nil
    }

    mutating func endInside() { running = outer.removeLast() }

    private var firstLine: ManualLine? {
        if lines.count == 1 { return lines[0] }
        return lines.min { ($0.firstOrder ?? .max) < ($1.firstOrder ?? .max) }
    }

    // MARK: What is pending

    /// How many delays of one line wait.
    func delayedCount(of line: ManualLine) -> Int { delays.count { $0.line === line } }

    var isEmpty: Bool { delays.isEmpty && lines.allSatisfy { $0.count == 0 } }

    /// What waits on one line, or on all; the caller puts it into words outside the lock.
    func pending(of only: ManualLine?) -> (
        ready: [(ManualLine.Piece, ManualLine)], delays: [DelayHeap.Waiting]
    ) {
        let ready = (only.map { [$0] } ?? lines).flatMap { line in line.all.map { ($0, line) } }
        return (
            ready.sorted { $0.0.order < $1.0.order }, delays.all.filter { only == nil || $0.line === only }
        )
    }

    /// Lets go of what waits on one line, or on all.
    mutating func takeAll(of only: ManualLine?) -> (ready: [ManualLine.Piece], delays: [DelayHeap.Waiting]) {
        var pieces: [ManualLine.Piece] = []
        for line in only.map({ [$0] }) ?? lines {
            if !line.isBackground { foreground -= line.count }
            pieces += line.takeAll()
        }
        let gone = delays.removeAll(of: only)
        foreground -= gone.count { $0.isForeground }
        return (pieces, gone)
    }
}

extension DelayHeap.Waiting {
    var isForeground: Bool { line?.isBackground != true }
}
