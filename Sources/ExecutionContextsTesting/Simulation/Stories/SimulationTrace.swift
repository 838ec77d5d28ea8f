internal import ExecutionContexts

/// The events of one schedule, for a reader; kept only to describe a failure.
final class SimulationTrace {
    enum TraceEvent: Equatable {
        case ended, sleeps, time
        case enters(String), isRefused(String), leaves(String), touches(String), waits(String),
            signals(String), takes(String), givesUp(String)
        /// A job of a context begins, and perhaps has a label.
        case begins(String, label: String? = nil)
        /// A part of a task: the actor that it has, and addresses of its code.
        case runs(isFirst: Bool, actor: String?, locations: [UInt])
        /// The thread creates a task.
        case creates
        case submits(String)
        /// A tracked value, with what was read, and what was there before it was written.
        case reads(String, String?)
        case writes(String, String?, String?)
    }

    // Jobs carry their labels only while something reads them.
    init() { JobSource.addReader() }
    deinit { JobSource.removeReader() }

    private var rows: [Story.Row] = []
    private var switches = 0
    private static let mostEvents = 20_000
    /// How many decisions were made.
    var step = 0
    private var all: [(step: Int, thread: String, event: TraceEvent)] = []
    /// Where in their sources the threads are that have part in the failure.
    var locations: [(name: String, location: CallerLocation?)] = []

    /// All events, each with its step.
    var texts: [(step: Int, text: String)] {
        all.map { ($0.step, "'\($0.thread)' \(Self.text($0.event))") }
    }

    /// A number for each event, with its step.
    var marks: [(step: Int, hash: Int)] {
        all.map { ($0.step, $0.event.hash(on: $0.thread)) }
    }

    func add(_ thread: SimulatedThread, _ event: TraceEvent) {
        // Of a program that runs for ever, the beginning and the end are told.
        if all.count < Self.mostEvents { all.append((step, thread.name, event)) }
        // A task's own part has its functions instead.
        let location = if case .runs = event { CallerLocation?.none } else { CallerLocation() }
        add(.event(thread.name, event, location))
    }

    func didSwitch(from thread: SimulatedThread, to next: SimulatedThread, isSwitch: Bool) {
        guard isSwitch else { return }
        switches += 1
        add(.change(from: thread.name, to: next.name, number: switches))
    }

    /// Tells what happens by chance.
    func didHappen(_ name: String, in thread: SimulatedThread) {
        switches += 1
        add(.chance(thread.name, name, number: switches))
    }

    /// Tells the begin or the end of an operation of a history.
    ///
    /// The description of an operation is code of the program, and no part of the schedule.
    func add(_ thread: SimulatedThread, operation text: () -> String) {
        var told = ""
        HostThread.current?.outside { told = text() }
        add(.operation(thread.name, told, CallerLocation()))
    }

    /// Tells time that has passed.
    func timeIs(_ now: Int64) { add(.time(now)) }

    /// A task that begins has told its name. Only its last switch has told the earlier one.
    func rename(_ before: String, to name: String) {
        guard
            let last = rows.lastIndex(where: { if case .change = $0 { true } else { false } }),
            case .change(let from, before, let number) = rows[last]
        else { return }
        rows[last] = .change(from: from, to: name, number: number)
    }

    private func add(_ row: Story.Row) {
        rows.append(row)
        if rows.count > 2_000 { rows.removeSubrange(400..<1_600) }
    }

    /// What happened, for a reader.
    var story: Story {
        Story(rows, notes: Reentries(all.map { ($0.thread, $0.event) }).lines, locations)
    }

    static func text(_ event: TraceEvent) -> String {
        switch event {
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
            running(isFirst, actor, CodeLocations.function(at: locations))
        case .creates: "starts a task"
        case .submits(let name): "submits to '\(name)'"
        case .reads(let name, let value): "reads '\(name)'" + (value.map { " = \($0)" } ?? "")
        case .writes(let name, let old?, let new?): "writes '\(name)': \(old) -> \(new)"
        case .writes(let name, _, _): "writes '\(name)'"
        }
    }

    private static func running(_ isFirst: Bool, _ actor: String?, _ function: String?) -> String {
        (isFirst ? "begins" : "goes on") + (function.map { " in \($0)" } ?? "")
            + (actor.map { ", with actor '\($0)'" } ?? "")
    }
}

extension SimulationTrace.TraceEvent {
    /// Whether the event is one of several by which one call uses a primitive.
    var isUse: Bool { if case .touches = self { true } else { false } }

    /// A number that is the same in each process and each build in which the same happens.
    func hash(on thread: String) -> Int {
        var fingerprint = Fingerprint()
        func add(_ text: String) { for byte in text.utf8 { fingerprint.add(Int(byte)) } }
        add(thread)
        switch self {
        // Functions have other names where the optimizer has merged them.
        case .runs(let isFirst, let actor, _):
            fingerprint.add(isFirst ? 1 : 2)
            add(actor ?? "")
        // A label says nothing about what happens.
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

    /// A number for a value, whatever the order of its parts, which a set has anew in each process.
    private static func sum(_ value: String?) -> Int {
        guard let value, !value.hasSuffix("...") else { return 0 }
        return value.utf8.reduce(0) { $0 + Int($1) * Int($1) }
    }
}
