/// What the switches of a story have changed: the order of which two events.
struct Explanations {
    private let rows: [Story.Row]
    private let tasks: [UInt32: String]

    /// More switches are not explained.
    private static let most = 3

    init(_ rows: [Story.Row], _ tasks: [UInt32: String]) {
        (self.rows, self.tasks) = (rows, tasks)
    }

    /// A line for each change of the order.
    var lines: [String] {
        var changes: [(numbers: [Int], text: String)] = []
        for (index, row) in rows.enumerated() {
            guard let (number, text) = change(row, at: index) else { continue }
            if changes.last?.text == text {
                changes[changes.count - 1].numbers.append(number)
            } else {
                changes.append(([number], text))
            }
            if changes.count > Self.most { return [] }
        }
        return changes.map { numbers, text in
            let list = numbers.map(String.init).joined(separator: ", ")
            return "at switch\(numbers.count == 1 ? "" : "es") \(list), \(text)"
        }
    }

    private func change(_ row: Story.Row, at index: Int) -> (number: Int, text: String)? {
        switch row {
        case .change(let from, let to, let number, let due) where from == due && from != to:
            (number, "'\(to.text)' runs" + place(index, in: from.text))
        case .change(_, let to, let number, let due) where to != due:
            (number, precedence(of: to.text, over: due.text, after: index))
        case .chance(let name, "time passes", let number):
            (number, "time passes" + place(index, in: name))
        default: nil
        }
    }

    /// Between which events of a thread it is.
    private func place(_ index: Int, in thread: String) -> String {
        let last = event(of: thread, in: rows.indices[..<index].reversed()) { _ in true }
        let next = event(of: thread, in: rows.indices[index...]) { _ in true }
        return switch (last?.text, next?.text) {
        case (let last?, let next?): " between \(last) and \(next) of '\(thread)'"
        case (let last?, nil): " after \(last) of '\(thread)'"
        default: " before '\(thread)' continues"
        }
    }

    /// What the thread that runs does before the one that was due can do something.
    private func precedence(of thread: String, over due: String, after index: Int) -> String {
        let other = event(of: due, in: rows.indices[index...], where: \.isDeed)
        let before = rows.indices[index..<(other?.index ?? index)]
        let own =
            event(of: thread, in: before, where: \.isDeed)
            ?? event(of: thread, in: before) { if case .awaits = $0 { true } else { false } }
        guard let own, let other else { return "'\(thread)' goes on while '\(due)' is due" }
        return "\(own.text) of '\(thread)' comes before \(other.text) of '\(due)'"
    }

    private func event(
        of thread: String, in indices: some Sequence<Int>,
        where isSought: (SimulationTrace.TraceEvent) -> Bool
    ) -> (index: Int, text: String)? {
        for index in indices {
            guard case .event(thread, let event, let location) = rows[index], isSought(event) else {
                continue
            }
            let line = location?.line
            let text = SimulationTrace.text(
                event, tasks, hasLine: line != nil, place: location?.place)
            return (index, "\"\(Story.unbroken(text))\"" + (line.map { " (\($0))" } ?? ""))
        }
        return nil
    }
}

extension SimulationTrace.TraceEvent {
    /// Whether the event does something that others may notice.
    fileprivate var isDeed: Bool {
        switch self {
        case .sleeps, .time, .waits, .awaits, .yields, .exits, .begins, .ended: false
        case .runs(let part): part.actor != nil
        default: true
        }
    }
}
