/// Draws operations as text: one row for each thread or task, time from left to right.
struct HistoryDrawing<Model: SequentialModel> {
    /// How many operations a drawing shows at most.
    private static var most: Int { 16 }

    private let calls: [RecordedCall<Model>]
    private let left: Int

    init(_ calls: [RecordedCall<Model>]) {
        self.calls = calls.suffix(Self.most)
        left = calls.count - self.calls.count
    }

    var lines: [String] {
        let columns = eventColumns
        // Overlapping calls have separate rows, even if they have the same name.
        var rows: [(name: String, text: String, isOpen: Bool)] = []
        let isOpen = calls.contains { $0.answer == nil }
        let width = (columns.values.max() ?? 0) + (isOpen ? 3 : 1)
        for call in calls {
            let begin = columns[call.begin]!
            let row =
                rows.firstIndex { $0.name == call.caller && !$0.isOpen && $0.text.count <= begin }
                ?? {
                    rows.append((call.caller, "", false))
                    return rows.count - 1
                }()
            rows[row].text += String(repeating: " ", count: begin - rows[row].text.count)
            let isPending = call.answer == nil
            let end = isPending ? width : columns[call.end]! + 1
            let bar = "[" + Self.label(call)
            rows[row].text +=
                bar
                + String(
                    repeating: "-", count: max(0, end - begin - bar.count - (isPending ? 0 : 1)))
            if !isPending { rows[row].text += "]" }
            rows[row].isOpen = isPending
        }
        let names = rows.map(\.name.count).max() ?? 0
        let lines = rows.sorted { $0.name < $1.name }.map {
            $0.name + String(repeating: " ", count: names - $0.name.count + 2) + $0.text
        }
        return left == 0 ? lines : lines + ["(after \(left) others)"]
    }

    /// The columns of the events: in their order, with room for the labels between them.
    private var eventColumns: [Int: Int] {
        var events: [(time: Int, begin: Int?, room: Int)] = []
        for call in calls {
            events.append((call.begin, nil, 0))
            if call.answer != nil {
                events.append((call.end, call.begin, Self.label(call).count + 1))
            }
        }
        var columns: [Int: Int] = [:]
        var next = 0
        for event in events.sorted(by: { $0.time < $1.time }) {
            let column = max(next, (event.begin.flatMap { columns[$0] } ?? 0) + event.room)
            columns[event.time] = column
            next = column + 1
        }
        return columns
    }

    private static func label(_ call: RecordedCall<Model>) -> String {
        guard let answer = call.answer else { return "\(call.operation) " }
        return "\(call.operation) = \(plain(answer))"
    }
}

/// A value without the text around an optional.
func plain(_ value: Any) -> String {
    let mirror = Mirror(reflecting: value)
    guard mirror.displayStyle == .optional else { return "\(value)" }
    return mirror.children.first.map { plain($0.value) } ?? "nil"
}
