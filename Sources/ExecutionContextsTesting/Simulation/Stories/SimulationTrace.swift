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
        /// A part of a task: the actor that it holds, and addresses of its code.
        case runs(isFirst: Bool, actor: String?, locations: [UInt])
        /// A part of a task ends at a suspension; addresses of the code that follows.
        case awaits(locations: [UInt])
        case yields
        /// A task ends, which makes those ready that await it.
        case ends(resuming: [String])
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
    /// The names of the tasks that have begun, by their numbers.
    private var tasks: [UInt32: String] = [:]
    /// The source locations of the threads involved in the failure.
    var locations: [(name: String, location: CallerLocation?)] = []

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
            case .runs(_, _, let locations), .awaits(let locations): CallerLocation(at: locations)
            case .yields, .ends: CallerLocation?.none
            default: CallerLocation()
            }
        add(.event(thread.name, event, location))
    }

    /// Records what a thread has done to other tasks.
    func add(_ thread: SimulatedThread, did act: ecs_act, resuming names: [String]) {
        // A cancellation was recorded before its handlers ran.
        let endsCancellation = act == ecs_cancels || act == ecs_cancels_group
        if endsCancellation && names.isEmpty { return }
        add(
            thread,
            .acts(TaskAct(kind: act, resumed: names, endsCancellation: endsCancellation)))
    }

    func didSwitch(from thread: SimulatedThread, to next: SimulatedThread, isSwitch: Bool) {
        guard isSwitch, !Self.isOfXCTest(thread.name), !Self.isOfXCTest(next.name) else { return }
        switches += 1
        let (from, to) = (thread.title.withoutYield, next.title.withoutYield)
        add(.change(from: from.text, to: to.text, number: switches))
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

    /// A task begins. If it has a name of its own, its last switch was recorded with another one.
    func didBegin(_ task: UInt32, _ name: String, before: String) {
        tasks[task] = name
        guard name != before,
            let last = rows.lastIndex(where: { if case .change = $0 { true } else { false } }),
            case .change(let from, before, let number) = rows[last]
        else { return }
        rows[last] = .change(from: from, to: name, number: number)
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
            notes: Reentries(all.map { ($0.thread, $0.event) }).lines,
            locations)
    }

    /// The text, with the names of tasks by their numbers.
    ///
    /// A reader who has the code of the line does not need the name of the function; one who has
    /// the line needs neither the numbers of closures, nor a function that has a sentence for its
    /// name, as a test has.
    static func text(
        _ event: TraceEvent, _ tasks: [UInt32: String] = [:], hasLine: Bool = false,
        code: String? = nil
    ) -> String {
        func place(_ locations: [UInt]) -> String {
            if let code { return " at `\(shortened(code))`" }
            guard var function = CodeLocations.function(at: locations) else { return "" }
            if hasLine { function.trimPrefix(#/(closure #\d+ in )+/#) }
            if hasLine, function.contains("`") { return "" }
            return " in \(function)"
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
        case .runs(let isFirst, let actor, let locations):
            (isFirst ? "begins" : "continues")
                + (actor.map { " with actor '\($0)'" } ?? "") + place(locations)
        case .awaits(let locations): "waits" + place(locations)
        case .yields: "yields"
        case .ends(let names): "ends" + TaskAct.resuming(names)
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

extension SimulationTrace {
    /// The beginning of a line of code.
    private static func shortened(_ code: String) -> String {
        code.count <= 60 ? code : code.prefix(57) + "..."
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
        case .runs(let isFirst, let actor, _):
            fingerprint.add(isFirst ? 1 : 2)
            add(actor ?? "")
        case .awaits: fingerprint.add(3)
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
