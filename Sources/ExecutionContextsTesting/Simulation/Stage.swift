internal import ExecutionContexts

/// One run of a simulated program under one schedule: who is there, who has the turn, and how it
/// ended.
///
/// Whoever has the turn decides, on the spot, who is next; to go on costs no change of threads.
final class Stage: @unchecked Sendable {
    // Unchecked: everything belongs to whoever has the turn. The turn is passed by batons, which
    // order memory.

    enum Phase {
        /// The body of the simulation runs alone, and says who there is to be.
        case settingUp
        case playing
        /// A closure of the user's that must not wait is being asked.
        case asking
        /// It has failed, and the lanes go on to their ends as far as they can.
        case draining
        case over
    }

    let settings: Settings
    let chooser: Chooser
    let crew: Crew
    let chronicle: Chronicle?

    var phase = Phase.settingUp
    var lanes: [Lane] = []
    /// The lanes that can go on, and those that sleep until some time, as sets of their numbers.
    var ready: UInt64 = 0
    var timed: UInt64 = 0
    var now: Int64 = 0
    var steps = 0
    private var drained = 0
    private(set) var switches: [Switch] = []
    /// Every decision, in order: two runs in which the same happened have the same.
    private(set) var trail = Trail()
    private(set) var failure: Finding?
    var inversion: Finding?
    var names = Names()
    var order = LockOrder()
    var conditions: [Condition] = []
    var lastConditions: [Condition] = []
    var lines: [JobLine] = []
    var lender: JobLine?
    /// What stands for the system's threads: `sim.global`, and `.global` and `.pool` of code that
    /// is given no context.
    private(set) var system: JobLine!
    var tasks: [String] = []
    private(set) var clock: SimulatedTime!

    /// Something that must hold.
    struct Condition {
        let name: String
        let holds: () throws -> Bool
    }

    init(_ settings: Settings, _ chooser: Chooser, _ crew: Crew, chronicle: Chronicle?) {
        self.settings = settings
        self.chooser = chooser
        self.crew = crew
        self.chronicle = chronicle
        clock = SimulatedTime(self)
        system = JobLine(names.unique("global"), width: 24, on: self)
    }

    // MARK: Lanes

    /// Adds a lane that can go on; nil, with a failure, where there are too many.
    @discardableResult
    func add(_ name: String, line: JobLine? = nil, _ body: @escaping () -> Void) -> Lane? {
        guard lanes.count < Schedule.mostLanes else {
            fail(.misuse, "More than \(Schedule.mostLanes) threads were started: simulate fewer.")
            return nil
        }
        let thread = crew.thread(lanes.count)
        // A serial context and the lane that serves it are one thing to people.
        let name = line == nil ? names.unique(name) : name
        let lane = Lane(id: lanes.count, name: name, thread: thread, line: line, body: body)
        crew.call(lane.id, lane.name)
        lane.edge.precede()
        thread.assign(lane, on: self)
        lanes.append(lane)
        ready |= 1 << UInt64(lane.id)
        return lane
    }

    func wake(_ lane: Lane) {
        lane.state = .ready
        ready |= 1 << UInt64(lane.id)
        timed &= ~(1 << UInt64(lane.id))
    }

    func rest(_ lane: Lane, _ state: Lane.State) {
        lane.state = state
        ready &= ~(1 << UInt64(lane.id))
    }

    /// The body of a lane has come to its end.
    func didReturn(_ lane: Lane) {
        if phase == .settingUp && lane.id == 0 { phase = failure == nil ? .playing : .draining }
        lane.operations += 1
        rest(lane, lane.line == nil ? .ended : .idle)
        if lane.id > 0 { chronicle?.add(lane, .ended) }
        if lane.line?.hasTurnFor(lane) == true { wake(lane) }
        if phase == .playing { checkConditions() }
        guard let next = choose(lane, stays: false) else { return crew.conductor.pass() }
        // Not necessarily another lane: one that serves a context may begin anew.
        next.thread.baton.pass()
    }

    // MARK: Turns

    /// A point at which another lane may have its turn.
    func point(_ lane: Lane, yields: Bool = false) {
        guard phase == .playing || phase == .draining, lane.undivided == 0 || yields else { return }
        step(lane)
        pass(from: lane, choose(lane, stays: true, yields: yields))
    }

    /// Gives the turn to `next` and waits for it to come back; without a next, for ever.
    func pass(from lane: Lane, _ next: Lane?) {
        guard next !== lane else { return }
        lane.run = 0
        if let next { next.thread.baton.pass() } else { crew.conductor.pass() }
        lane.thread.baton.wait()
    }

    func step(_ lane: Lane) {
        lane.operations += 1
        lane.run += 1
        steps += 1
        crew.beat()
        if settings.time == .racing { now += 1_000 }
        if phase == .draining {
            drained += 1
            if drained > Self.patience { giveUp(lane) }
        } else if steps > settings.steps {
            fail(
                .endless,
                "The program goes on after \(settings.steps) steps. It turns in a circle, repeats something for ever, or "
                    + "is too long: end what repeats, or raise 'steps'.")
        } else if phase == .playing && !conditions.isEmpty {
            checkConditions()
        }
    }

    /// How many more steps the lanes have to come to their ends after a failure.
    private static let patience = 2_000
    /// How long a lane goes on while others could; so that who looks again and again does not look
    /// for ever.
    private static let longestRun = 1_000

    /// Leaves the lane where it is, for ever: there is no way to end a thread from outside.
    func giveUp(_ lane: Lane) -> Never {
        crew.conductor.pass()
        while true { lane.thread.baton.wait() }
    }

    func refuseToWait(_ lane: Lane) -> Never {
        fail(
            .misuse,
            "An invariant waits for a lock or a context. Nobody else runs while it is asked, so it may read without "
                + "a lock; or ask it at the end, by 'finally'.")
        giveUp(lane)
    }

    /// Who is next: nil if nobody can go on, with the reason.
    func choose(_ lane: Lane, stays: Bool, yields: Bool = false) -> Lane? {
        while true {
            let isRacing = settings.time == .racing && phase == .playing
            let candidates = ready
            if candidates == 0 {
                if phase != .over && advance() { continue }
                return endOrGoOn(after: lane)
            }
            let isPatient = stays && !yields && lane.run < Self.longestRun
            let usual = isPatient ? lane.id : Self.next(after: lane.id, in: candidates)
            var target = usual
            if phase == .playing && (isRacing || candidates & (candidates - 1) != 0) {
                let situation = Situation(
                    lane: lane.id, operation: lane.operations, stays: stays, candidates: candidates,
                    hasTime: isRacing, usual: usual)
                target = chooser.choose(situation)
                if target != usual {
                    switches.append(Switch(lane: lane.id, operation: lane.operations, target: target))
                }
            }
            trail.add(lane: lane.id, operation: lane.operations, target: target)
            chronicle?.step = trail.count
            if target == Schedule.time {
                chronicle?.add(lane, .time)
                // Where nothing is due, it is a moment that some things count as long.
                if !advance() { now += 1_100_000 }
                lane.operations += 1
                continue
            }
            if target != lane.id { chronicle?.turn(from: lane, to: lanes[target], isSwitch: target != usual) }
            crew.turn(target)
            return lanes[target]
        }
    }

    private static func next(after id: Int, in candidates: UInt64) -> Int {
        let later = candidates & ~((2 << UInt64(id)) &- 1)
        return (later == 0 ? candidates : later).trailingZeroBitCount
    }

    /// Moves the clock to the next thing that is due, and lets it happen; false if nothing ever is.
    private func advance() -> Bool {
        var next = clock.nextDeadline ?? .max
        var sleeper: Lane?
        var rest = timed
        while rest != 0 {
            let lane = lanes[rest.trailingZeroBitCount]
            rest &= rest - 1
            if lane.deadline < next { (next, sleeper) = (lane.deadline, lane) }
        }
        guard next != .max, phase != .playing || next <= settings.horizon else { return false }
        now = max(now, next)
        if let sleeper { wake(sleeper) } else { clock.fireNext() }
        return true
    }

    // MARK: The end

    func fail(_ kind: SimulationFailure.Kind, _ sentence: String) {
        guard failure == nil, !settings.ignoring.contains(kind) else { return }
        failure = Finding(kind: kind, sentence: sentence)
        if phase != .settingUp { phase = .draining }
    }

    /// Breaks the circles between the stage and what it made, and returns the work that has not
    /// begun.
    func close() -> [JobLine.Job] {
        phase = .over
        for lane in lanes where lane.isDone {
            lane.body = nil
            lane.thread.assign(nil, on: nil)
        }
        conditions = []
        lastConditions = []
        clock.close()
        return lines.flatMap { $0.close() }
    }
}

/// What was found in one schedule.
struct Finding: Hashable, Sendable {
    var kind: SimulationFailure.Kind
    var sentence: String
}
