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
        /// The thread creates a task.
        case creates
        /// The thread affects other tasks, and makes some ready.
        case acts(String, resuming: [String])
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
        // A part of a task has its functions instead.
        let location = if case .runs = event { CallerLocation?.none } else { CallerLocation() }
        add(.event(thread.name, event, location))
    }

    func didSwitch(from thread: SimulatedThread, to next: SimulatedThread, isSwitch: Bool) {
        guard isSwitch, !Self.isOfXCTest(thread.name), !Self.isOfXCTest(next.name) else { return }
        switches += 1
        add(.change(from: thread.name, to: next.name, number: switches))
    }

    /// Whether a queue is one by which XCTest waits for expectations.
    static func isOfXCTest(_ name: String) -> Bool { name.hasPrefix("org.swift.XCTest") }

    private func isOfXCTest(_ event: TraceEvent) -> Bool {
        switch event {
        case .begins(let name, _), .submits(let name): Self.isOfXCTest(name)
        default: false
        }
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

    /// Renames a task that begins. Only its last switch was recorded with the earlier name.
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

    /// The events as a story.
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
        case .acts(let what, let names) where names.isEmpty: what
        case .acts(let what, let names):
            "\(what): '\(names.joined(separator: "', '"))' may go on"
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
    /// Whether the event is one of several that one call of a primitive causes.
    var isUse: Bool { if case .touches = self { true } else { false } }

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
