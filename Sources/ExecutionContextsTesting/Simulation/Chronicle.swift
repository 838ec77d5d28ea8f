/// What happens in one schedule, for people to read; kept only when a failure is told.
final class Chronicle {
    enum Deed: Equatable {
        case ended, sleeps, time
        case enters(String), isRefused(String), leaves(String), touches(String), waits(String), begins(String)
        case submits(String), reads(String), writes(String)
    }

    private struct Stretch {
        let lane: String
        var deeds: [String] = []
    }

    private var stretches: [Stretch] = []
    private var lines: [String] = []
    private var switches = 0
    /// How many decisions there have been.
    var step = 0
    /// All that was done, each with the step that it belongs to.
    private(set) var all: [(step: Int, text: String)] = []

    func add(_ lane: Lane, _ deed: Deed) {
        let text = Self.text(deed)
        all.append((step, "'\(lane.name)' \(text)"))
        if stretches.last?.lane != lane.name { stretches.append(Stretch(lane: lane.name)) }
        let index = stretches.count - 1
        if stretches[index].deeds.last != text { stretches[index].deeds.append(text) }
    }

    func turn(from lane: Lane, to next: Lane, isSwitch: Bool) {
        flush()
        guard isSwitch else { return }
        switches += 1
        let place =
            lane.isDone
            ? "when '\(lane.name)' has ended" : "before operation \(lane.operations) of '\(lane.name)'"
        lines.append("-> switch \(switches): \(place), the turn goes to '\(next.name)'")
    }

    var story: [String] {
        flush()
        // The end is what matters, and the beginning shows how it began.
        return lines.count <= 60 ? lines : lines.prefix(20) + ["..."] + lines.suffix(39)
    }

    private func flush() {
        lines += stretches.map { stretch in
            let deeds = stretch.deeds
            let shown = deeds.count <= 12 ? deeds : deeds.prefix(5) + ["..."] + deeds.suffix(6)
            return "\(stretch.lane): " + shown.joined(separator: ", ")
        }
        stretches = []
    }

    private static func text(_ deed: Deed) -> String {
        switch deed {
        case .ended: "ends"
        case .sleeps: "sleeps"
        case .time: "time passes"
        case .enters(let name): "enters '\(name)'"
        case .isRefused(let name): "finds '\(name)' taken"
        case .leaves(let name): "leaves '\(name)'"
        case .touches(let name): "uses '\(name)'"
        case .waits(let name): "waits for '\(name)'"
        case .begins(let name): "begins a piece of '\(name)'"
        case .submits(let name): "submits to '\(name)'"
        case .reads(let name): "reads '\(name)'"
        case .writes(let name): "writes '\(name)'"
        }
    }
}
