/// The events of one schedule, for a reader; kept only to describe a failure.
final class SimulationTrace {
    enum TraceEvent: Equatable {
        case ended, sleeps, time
        case enters(String), isRefused(String), leaves(String), touches(String), waits(String),
            begins(String)
        case submits(String), reads(String), writes(String)
    }

    private struct Stretch {
        let thread: String
        var events: [String] = []
    }

    private var stretches: [Stretch] = []
    private var lines: [String] = []
    private var switches = 0
    /// How many decisions were made.
    var step = 0
    /// All events, each with its step.
    private(set) var all: [(step: Int, text: String)] = []

    func add(_ thread: SimulatedThread, _ event: TraceEvent) {
        let text = Self.text(event)
        all.append((step, "'\(thread.name)' \(text)"))
        if stretches.last?.thread != thread.name { stretches.append(Stretch(thread: thread.name)) }
        let index = stretches.count - 1
        if stretches[index].events.last != text { stretches[index].events.append(text) }
    }

    func didSwitch(from thread: SimulatedThread, to next: SimulatedThread, isSwitch: Bool) {
        flush()
        guard isSwitch else { return }
        switches += 1
        let point =
            thread.isDone
            ? "when '\(thread.name)' has ended"
            : "before operation \(thread.operations) of '\(thread.name)'"
        lines.append("-> switch \(switches): \(point), '\(next.name)' runs")
    }

    var story: [String] {
        flush()
        // The end matters most, and the beginning shows how it began.
        return lines.count <= 60 ? lines : lines.prefix(20) + ["..."] + lines.suffix(39)
    }

    private func flush() {
        lines += stretches.map { stretch in
            let events = stretch.events
            let shown = events.count <= 12 ? events : events.prefix(5) + ["..."] + events.suffix(6)
            return "\(stretch.thread): " + shown.joined(separator: ", ")
        }
        stretches = []
    }

    private static func text(_ event: TraceEvent) -> String {
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
        case .submits(let name): "submits to '\(name)'"
        case .reads(let name): "reads '\(name)'"
        case .writes(let name): "writes '\(name)'"
        }
    }
}
