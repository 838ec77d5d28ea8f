/// What the threads of one schedule did, a column for each of them.
struct Story: Sendable {
    enum Row {
        case event(String, SimulationTrace.TraceEvent, CallerLocation?)
        /// Another thread runs next than by default.
        case change(from: String, to: String, number: Int)
        case chance(String, String, number: Int)
        /// Time has advanced, to so many nanoseconds.
        case time(Int64)
    }

    /// One line of the story.
    struct Line: Sendable {
        enum Content: Sendable {
            /// What the thread of a column does, and from which line of its source.
            case event(Int, String, location: String?)
            /// A switch from one column to another.
            case change(from: Int, to: Int, number: Int)
            /// What concerns no thread.
            case remark(String)
        }
        let content: Content
    }

    /// The names of the threads, in the order in which they first did something.
    let columns: [String]
    let lines: [Line]
    /// What is told below: where an actor was re-entered.
    let notes: [String]
    /// The lines at which the threads are that have part in the failure.
    let whereabouts: [String]

    /// Nothing to tell.
    static let none = Story([], notes: [], [])

    /// How many lines are told; of a longer story the beginning and the end.
    private static let mostLines = 60
    private static let firstLines = 20

    init(
        _ rows: [Row], notes: [String], _ locations: [(name: String, location: CallerLocation?)]
    ) {
        self.notes = notes
        whereabouts = locations.compactMap { name, location in
            location?.line.map { "'\(name)' is at \($0)" }
        }
        let rows = Self.shortened(rows)
        let columns = Self.columns(of: rows)
        self.columns = columns.map { $0.replacing("\n", with: " ") }
        let places = Dictionary(uniqueKeysWithValues: columns.enumerated().map { ($1, $0) })
        var lines: [Line] = []
        for row in rows {
            let content: Line.Content
            switch row {
            case .some(.event(let name, let event, let location)):
                guard let column = places[name] else { continue }
                // One call of a primitive uses its words several times.
                if case .touches = event, let last = lines.last?.content,
                    case .event(column, SimulationTrace.text(event), _) = last
                {
                    continue
                }
                // A line break in a name would break the column.
                let text = SimulationTrace.text(event).replacing("\n", with: " ")
                content = .event(column, text, location: location?.line)
            case .some(.change(let from, let to, let number)):
                guard let to = places[to] else { continue }
                content = .change(from: places[from] ?? to, to: to, number: number)
            case .some(.chance(let name, let what, let number)):
                guard let column = places[name] else { continue }
                content = .event(column, "by chance: \(what) (switch \(number))", location: nil)
            case .some(.time(let now)):
                content = .remark("time is \(Duration.nanoseconds(now))")
            case nil:
                content = .remark("...")
            }
            lines.append(Line(content: content))
        }
        self.lines = lines
    }

    /// The rows that are told, with nil where some are left out.
    private static func shortened(_ rows: [Row]) -> [Row?] {
        let all = rows.map(Optional.some)
        guard rows.count > mostLines else { return all }
        return all.prefix(firstLines) + [nil] + all.suffix(mostLines - firstLines - 1)
    }

    /// The threads that do more than to end.
    private static func columns(of rows: [Row?]) -> [String] {
        var columns: [String] = []
        func add(_ name: String) { if !columns.contains(name) { columns.append(name) } }
        for case .some(let row) in rows {
            switch row {
            case .event(_, .ended, _), .time: break
            case .event(let name, _, _), .chance(let name, _, _): add(name)
            case .change(let from, let to, _):
                add(from)
                add(to)
            }
        }
        return columns
    }
}
