internal import CSimulation
internal import ExecutionContexts

/// The events of one schedule; recorded only to describe a failure.
final class SimulationTrace {
    enum TraceEvent: Equatable {
        case ended, sleeps, time
        case enters(String), isRefused(String), leaves(String), touches(String), waits(String),
            signals(String), takes(String), givesUp(String)
        /// A job of a context begins; it may have a label.
        case begins(String, label: String? = nil)
        case runs(TaskPart)
        /// A part of a task ends at a suspension: what the task waits for, the actor that it leaves
        /// meanwhile, and addresses of the code that follows.
        case awaits(Awaited, leaving: String?, locations: [UInt])
        case yields(leaving: String?)
        /// A part of a task ends in an actor, and the task continues elsewhere.
        case exits(String)
        /// A task ends with an error of this type, or without one, and makes those ready that await
        /// it.
        case ends(throwing: String?, resuming: [String])
        /// The thread creates the task with this number.
        case creates(UInt32)
        case acts(TaskAct)
        /// The thread continues after a scheduling point of the program's own.
        case passes(String)
        case submits(String)
        /// A tracked value, with the value that was read, or the values before and after a write.
        case reads(String, String?)
        case writes(String, String?, String?)
    }

    // Jobs carry their labels only while a reader is registered.
    init() { JobSource.addReader() }
    deinit { JobSource.removeReader() }

    private var rows: [Story.Row] = []
    private var switches = 0
    private static let mostEvents = 20_000
    /// How many decisions were made.
    var step = 0
    private var all: [(step: Int, thread: String, event: TraceEvent)] = []
    /// The cancellations whose handlers run, the innermost one last: the threads, and the numbers
    /// of the cancelled tasks, zero for a group's.
    private var cancellations: [(thread: Int, task: UInt32)] = []
    /// The names of the tasks that have begun, by their numbers.
    private var tasks: [UInt32: String] = [:]
    /// The source locations of the threads involved in the failure.
    var locations: [(name: String, location: CallerLocation?)] = []

    /// The variable of a data race, if its name is known.
    var variable: String?

    /// All events, each with its step.
    var texts: [(step: Int, text: String)] {
        all.map { ($0.step, "'\($0.thread)' \(Self.text($0.event))") }
    }

    /// A hash of each event, with its step.
    var eventHashes: [(step: Int, hash: Int)] {
        all.map { ($0.step, $0.event.hash(on: $0.thread)) }
    }

    func add(_ thread: SimulatedThread, _ event: TraceEvent) {
        if isOfXCTest(event) || Self.isOfXCTest(thread.name) { return }
        // Of a program that runs forever, only the beginning and the end are shown.
        if all.count < Self.mostEvents { all.append((step, thread.name, event)) }
        let location =
            switch event {
            case .runs(let part): CallerLocation(at: part.locations)
            case .awaits(_, _, let locations): CallerLocation(at: locations)
            case .yields, .exits, .ends: CallerLocation?.none
            default: CallerLocation()
            }
        add(.event(thread.name, event, location))
    }

    /// Records what a thread has done to other tasks.
    func add(
        _ thread: SimulatedThread, did act: ecs_act, _ outcome: ecs_outcome,
        resuming names: [String]
    ) {
        // A cancellation was recorded before its handlers ran.
        let endsCancellation = act == ecs_cancels || act == ecs_cancels_group
        if endsCancellation {
            cancellations.lastIndex { $0.thread == thread.id }.map {
                _ = cancellations.remove(at: $0)
            }
            if names.isEmpty { return }
        }
        add(
            thread,
            .acts(
                TaskAct(
                    kind: act, outcome: outcome, resumed: names,
                    cancellation: cancellation(on: thread),
                    endsCancellation: endsCancellation)))
    }

    /// Records that a thread cancels tasks, before their handlers run.
    func add(_ thread: SimulatedThread, willDo act: ecs_act, to cancelled: TaskAct.CancelledTask?) {
        add(
            thread,
            .acts(TaskAct(kind: act, cancelled: cancelled, cancellation: cancellation(on: thread))))
        cancellations.append((thread.id, cancelled?.number ?? 0))
    }

    private func cancellation(on thread: SimulatedThread) -> UInt32? {
        cancellations.last { $0.thread == thread.id }?.task
    }

    /// Another thread runs next than the usual one.
    func didSwitch(
        from thread: SimulatedThread, to next: SimulatedThread, insteadOf usual: SimulatedThread
    ) {
        guard !Self.isOfXCTest(thread.name), !Self.isOfXCTest(next.name) else { return }
        switches += 1
        let (from, to) = (thread.title.withoutYield, next.title.withoutYield)
        // A story names no queue of XCTest.
        let due = Self.isOfXCTest(usual.name) ? to : usual.title.withoutYield
        add(.change(from: from, to: to, number: switches, due: due))
    }

    /// Whether a queue is one by which XCTest waits for expectations.
    static func isOfXCTest(_ name: String) -> Bool { name.hasPrefix("org.swift.XCTest") }

    private func isOfXCTest(_ event: TraceEvent) -> Bool {
        switch event {
        case .begins(let name, _), .submits(let name): Self.isOfXCTest(name)
        default: false
        }
    }

    /// Records that the schedule advances the time while the thread could run: a switch.
    func timePasses(in thread: SimulatedThread) {
        if all.count < Self.mostEvents { all.append((step, thread.name, .time)) }
        didHappen("time passes", in: thread)
    }

    /// Records what happens by chance.
    func didHappen(_ name: String, in thread: SimulatedThread) {
        switches += 1
        add(.chance(thread.name, name, number: switches))
    }

    /// Records the beginning or the end of an operation of a history.
    ///
    /// The description of an operation is code of the program, and must not affect the schedule.
    func add(_ thread: SimulatedThread, operation text: () -> String) {
        var description = ""
        HostThread.current?.outside { description = text() }
        add(.operation(thread.name, description, CallerLocation()))
    }

    /// Records that time has passed.
    func timeIs(_ now: Int64) { add(.time(now)) }

    /// A task begins. If it has a name of its own, switches were recorded with another one.
    func didBegin(
        _ task: UInt32, _ name: SimulatedThread.Title, before: SimulatedThread.Title
    ) {
        tasks[task] = name.text
        guard name != before else { return }
        for (index, row) in rows.enumerated() {
            guard case .change(let from, let to, let number, let due) = row else { continue }
            rows[index] = .change(
                from: from == before ? name : from, to: to == before ? name : to, number: number,
                due: due == before ? name : due)
        }
    }

    private func add(_ row: Story.Row) {
        rows.append(row)
        if rows.count > 2_000 { rows.removeSubrange(400..<1_600) }
    }

    /// The variables of `async let`, by the names of their tasks.
    private var variables: [String: String] {
        var variables: [String: String] = [:]
        for case .event(_, .creates(let task), let location) in rows {
            if let name = tasks[task] { variables[name] = location?.asyncLet }
        }
        return variables
    }

    /// The events as a story.
    var story: Story {
        Story(
            rows, tasks: tasks, variables: variables,
            notes: Reentries(all.map { ($0.thread, $0.event) }).lines
                + (variable.map { ["the variable is '\($0)'"] } ?? []),
            locations)
    }

    /// The text, with the names of tasks by their numbers.
    ///
    /// A reader who has the code of the line does not need the name of the function; one who has
    /// the line needs neither the numbers of closures, nor a function that has a sentence for its
    /// name, as a test has.
    static func text(
        _ event: TraceEvent, _ tasks: [UInt32: String] = [:], hasLine: Bool = false,
        place known: String? = nil
    ) -> String {
        func place(_ locations: [UInt]) -> String {
            if let known { return known }
            guard var function = CodeLocations.function(at: locations) else { return "" }
            if hasLine { function.trimPrefix(#/(closure #\d+ in )+/#) }
            if hasLine, function.contains("`") { return "" }
            return " in \(function)"
        }
        func leaving(_ actor: String?) -> String {
            actor.map { "leaves actor '\($0)' and " } ?? ""
        }
        return switch event {
        case .ended: "ends"
        case .sleeps: "sleeps"
        case .time: "time passes"
        case .enters(let name): "enters '\(name)'"
        case .isRefused(let name): "finds '\(name)' taken"
        case .leaves(let name): "leaves '\(name)'"
        case .touches(let name): "uses '\(name)'"
        case .waits(let name): "waits for '\(name)'"
        case .signals(let name): "signals '\(name)'"
        case .takes(let name): "has waited for '\(name)'"
        case .givesUp(let name): "waits no longer for '\(name)'"
        case .begins(let name, let label):
            "begins a job of '\(name)'" + (label.map { ": \($0)" } ?? "")
        case .runs(let part): part.text + place(part.locations)
        case .awaits(let awaited, let actor, let locations):
            leaving(actor) + "waits" + awaited.text(tasks) + place(locations)
        case .yields(let actor): leaving(actor) + "yields"
        case .exits(let actor): "leaves actor '\(actor)'"
        case .ends(let error, let names):
            "ends" + (error.map { ", throwing \($0)" } ?? "") + TaskAct.resuming(names)
        case .creates(let task): tasks[task].map { "starts '\($0)'" } ?? "starts a task"
        case .acts(let act): act.text(tasks)
        case .passes(let point): "passes \(point)"
        case .submits(let name): "submits to '\(name)'"
        case .reads(let name, let value): "reads '\(name)'" + (value.map { " = \($0)" } ?? "")
        case .writes(let name, let old?, let new?): "writes '\(name)': \(old) -> \(new)"
        case .writes(let name, _, _): "writes '\(name)'"
        }
    }
}

extension SimulationTrace.TraceEvent {
    /// Whether the event is one of several that one call of a primitive causes.
    var isUse: Bool {
        switch self {
        case .touches, .isRefused: true
        default: false
        }
    }

    /// A hash that is the same in each process and build for the same event.
    func hash(on thread: String) -> Int {
        var fingerprint = Fingerprint()
        func add(_ text: String) { for byte in text.utf8 { fingerprint.add(Int(byte)) } }
        add(thread)
        switch self {
        // The optimizer may merge functions, and so change their names.
        case .runs(let part):
            fingerprint.add(part.isFirst ? 1 : 2)
            add(part.actor ?? "")
        case .awaits: fingerprint.add(3)
        // What the runtime does not tell everywhere.
        case .ends(_, let names): add(SimulationTrace.text(.ends(throwing: nil, resuming: names)))
        case .acts(var act):
            (act.outcome, act.cancellation) = (ecs_is_unknown, nil)
            add(SimulationTrace.text(.acts(act)))
        // A label does not affect what happens.
        case .begins(let name, _): add(SimulationTrace.text(.begins(name)))
        case .reads(let name, let value):
            add(name)
            fingerprint.add(Self.sum(value))
        case .writes(let name, _, let value):
            add(name)
            fingerprint.add(~Self.sum(value))
        default:
            add(SimulationTrace.text(self))
        }
        return Int(truncatingIfNeeded: fingerprint.value)
    }

    /// A number for a value that ignores the order of its parts, which differs in each process for
    /// a set.
    private static func sum(_ value: String?) -> Int {
        guard let value, !value.hasSuffix("...") else { return 0 }
        return value.utf8.reduce(0) { $0 + Int($1) * Int($1) }
    }
}
