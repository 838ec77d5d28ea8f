/// The events of one schedule, for a reader; kept only to describe a failure.
final class SimulationTrace {
    enum TraceEvent: Equatable {
        case ended, sleeps, time
        case enters(String), isRefused(String), leaves(String), touches(String), waits(String),
            begins(String)
        /// A part of a task: the actor that it has, and addresses of its code.
        case runs(isFirst: Bool, actor: String?, locations: [UInt])
        /// The thread creates a task.
        case creates
        case submits(String)
        /// A tracked value, with what was read, and what was there before it was written.
        case reads(String, String?)
        case writes(String, String?, String?)
    }

    private struct Stretch {
        let thread: String
        var events: [TraceEvent] = []
    }

    private var stretches: [Stretch] = []
    private var lines: [String] = []
    private var switches = 0
    private static let mostEvents = 20_000
    /// How many decisions were made.
    var step = 0
    private var all: [(step: Int, thread: String, event: TraceEvent)] = []

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
        if stretches.last?.thread != thread.name { stretches.append(Stretch(thread: thread.name)) }
        let index = stretches.count - 1
        guard stretches[index].events.last != event else { return }
        stretches[index].events.append(event)
        if stretches[index].events.count > 1_000 {
            stretches[index].events.removeSubrange(100..<900)
        }
    }

    func didSwitch(from thread: SimulatedThread, to next: SimulatedThread, isSwitch: Bool) {
        flush()
        guard isSwitch else { return }
        switches += 1
        let point =
            if thread.state == .ended { "when '\(thread.name)' has ended" } else if thread.isDone {
                "when '\(thread.name)' waits"
            } else {
                "before operation \(thread.operations) of '\(thread.name)'"
            }
        lines.append(
            next === thread
                ? "-> switch \(switches): '\(next.name)' goes on where it lets others run, before its operation \(thread.operations)"
                : "-> switch \(switches): \(point), '\(next.name)' runs")
    }

    /// Tells what happens by chance.
    func didHappen(_ name: String, in thread: SimulatedThread) {
        flush()
        switches += 1
        lines.append("-> switch \(switches): by chance, in '\(thread.name)', \(name)")
    }

    /// Tells time that has passed.
    func timeIs(_ now: Int64) {
        flush()
        lines.append("time is \(Duration.nanoseconds(now))")
    }

    /// A task that begins has told its name. Only its last switch has told the earlier one.
    func rename(_ before: String, to name: String) {
        guard let last = lines.lastIndex(where: { $0.hasPrefix("->") }) else { return }
        lines[last] = lines[last].replacing("'\(before)' runs", with: "'\(name)' runs")
    }

    var report: [String] {
        flush()
        // The end matters most, and the beginning shows how it began.
        let shown = lines.count <= 60 ? lines : lines.prefix(20) + ["..."] + lines.suffix(39)
        return shown + Reentries(all.map { ($0.thread, $0.event) }).lines
    }

    private func flush() {
        lines += stretches.map { stretch in
            let events = stretch.events.map(Self.text)
            let shown = events.count <= 12 ? events : events.prefix(5) + ["..."] + events.suffix(6)
            return "\(stretch.thread): " + shown.joined(separator: ", ")
        }
        stretches = []
        if lines.count > 1_000 { lines = lines.prefix(20) + ["..."] + lines.suffix(60) }
    }

    fileprivate static func text(_ event: TraceEvent) -> String {
        switch event {
        case .ended: "ends"
        case .sleeps: "sleeps"
        case .time: "time passes"
        case .enters(let name): "enters '\(name)'"
        case .isRefused(let name): "finds '\(name)' taken"
        case .leaves(let name): "leaves '\(name)'"
        case .touches(let name): "uses '\(name)'"
        case .waits(let name): "waits for '\(name)'"
        case .begins(let name): "begins a job of '\(name)'"
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
