/// What the threads of one schedule did, a column for each of them.
struct Story: Sendable {
    enum Row {
        case event(String, SimulationTrace.TraceEvent, CallerLocation?)
        /// Another thread runs next than the one that is due.
        case change(
            from: SimulatedThread.Title, to: SimulatedThread.Title, number: Int,
            due: SimulatedThread.Title)
        case chance(String, String, number: Int)
        /// The beginning or the end of an operation of a history.
        case operation(String, String, CallerLocation?)
        /// Time has advanced to this many nanoseconds.
        case time(Int64)
    }

    /// One line of the story.
    struct Line: Sendable {
        enum Content: Sendable {
            /// What the thread of a column does, and the line of its source.
            case event(Int, String, location: String?)
            /// A switch from one column to another.
            case change(from: Int, to: Int, number: Int)
            /// The thread of another column runs next, as by default.
            case passes(from: Int, to: Int)
            /// An event of no thread.
            case remark(String)
        }
        let content: Content
        /// Whether the previous line is the same, apart from its location.
        var repeats = false
    }

    /// The names of the threads, in the order in which they first did something.
    let columns: [String]
    private(set) var lines: [Line]
    /// What each switch has changed, if there are few.
    let explanations: [String]
    /// The notes below the story: where an actor was re-entered.
    let notes: [String]
    /// The source lines of the threads involved in the failure.
    let whereabouts: [String]

    /// An empty story.
    static let none = Story([], tasks: [:], variables: [:], notes: [], [])

    /// The maximal number of rows; a longer story is reduced to what explains it.
    private static let mostRows = 60

    init(
        _ rows: [Row], tasks: [UInt32: String], variables: [String: String], notes: [String],
        _ locations: [(name: String, location: CallerLocation?)]
    ) {
        self.notes = notes
        whereabouts = locations.compactMap { name, location in
            location?.line.map { "'\(name)' is at \($0)" }
        }
        let folded = Self.folded(rows)
        explanations = Explanations(folded, tasks).lines
        let rows = Self.shortened(folded)
        let columns = Self.columns(of: rows)
        self.columns = columns.map { name in
            Self.unbroken(variables[name].map { "\(name) (\($0))" } ?? name)
        }
        let places = Dictionary(uniqueKeysWithValues: columns.enumerated().map { ($1, $0) })
        lines = Self.lines(of: rows, places, tasks)
    }

    /// The lines of the rows, by the column of each thread.
    private static func lines(
        of rows: [Row?], _ places: [String: Int], _ tasks: [UInt32: String]
    ) -> [Line] {
        var lines: [Line] = []
        // The column of the running thread, if the previous line belongs to it.
        var current: Int?
        func add(_ name: String, _ text: String, _ location: String?, repeats: Bool = false) {
            guard let column = places[name] else { return }
            if let from = current, from != column {
                lines.append(Line(content: .passes(from: from, to: column)))
            }
            current = column
            let content = Line.Content.event(column, unbroken(text), location: location)
            lines.append(Line(content: content, repeats: repeats))
        }
        var last: (String, SimulationTrace.TraceEvent)?
        for row in rows {
            let before = last
            last = nil
            switch row {
            case .some(.event(let name, let event, let location)):
                let repeats = before.map { $0 == (name, event) } == true && event.isUse
                let line = location?.line
                let text = SimulationTrace.text(
                    event, tasks, hasLine: line != nil, place: location?.place)
                add(name, text, line, repeats: repeats)
                last = places[name] == nil ? before : (name, event)
            case .some(.operation(let name, let text, let location)):
                add(name, text, location?.line)
            case .some(.chance(let name, let what, let number)):
                add(name, "by chance: \(what) (switch \(number))", nil)
            // It would have yielded to another thread.
            case .some(.change(let from, let to, let number, _)) where from == to:
                add(to.text, "continues at once (switch \(number))", nil)
            case .some(.change(let from, let to, let number, _)):
                guard let from = places[from.text], let to = places[to.text] else { continue }
                lines.append(Line(content: .change(from: from, to: to, number: number)))
                current = to
            case .some(.time(let now)):
                lines.append(Line(content: .remark("time is \(Duration.nanoseconds(now))")))
            case nil:
                lines.append(Line(content: .remark("...")))
                current = nil
            }
        }
        return lines
    }

    /// The story with each use of a primitive shown once. One call uses a primitive several times;
    /// with locations, the same use from another line of the source is another call.
    func shortened(hasLocations: Bool) -> Story {
        var story = self
        var last: String?
        story.lines = lines.filter { line in
            guard case .event(_, _, let location) = line.content else { return true }
            defer { last = location }
            return !line.repeats || hasLocations && location != last && location != nil
        }
        return story
    }

    /// The text without line breaks, which would break its column.
    static func unbroken(_ text: String) -> String { text.replacing("\n", with: " ") }

    /// The rows, with one instead of two where a thread leaves a lock, ends a cancellation, or
    /// continues after a yield, and nothing has happened since. A yield has the line behind it.
    private static func folded(_ all: [Row]) -> [Row] {
        var folded: [Row] = []
        // When all have ended, time only passes for what is left.
        let end = all.lastIndex { if case .time = $0 { false } else { true } } ?? -1
        let rows = all[...end]
        var yields: [String: Int] = [:]
        for row in rows {
            switch row {
            case .event(let name, .leaves(let lock), _):
                if case .event(name, .enters(lock), let location) = folded.last {
                    folded[folded.count - 1] = .event(name, .touches(lock), location)
                    continue
                }
            case .event(let name, .acts(let end), _) where end.endsCancellation:
                if case .event(name, .acts(var act), let location) = folded.last,
                    act.kind == end.kind
                {
                    act.resumed = end.resumed
                    folded[folded.count - 1] = .event(name, .acts(act), location)
                    continue
                }
            case .event(let name, .yields, _):
                yields[name] = folded.count
            case .event(let name, .runs(let part), let location) where !part.isFirst:
                let yield = yields.removeValue(forKey: name)
                if part.isCancelled { break }
                // It has only left an actor.
                if part.actor == nil, case .event(name, .exits, _) = folded.last { continue }
                guard let yield, case .event(_, let event, _) = folded[yield]
                else { break }
                folded[yield] = .event(name, event, location)
                if yield == folded.count - 1 { continue }
                if case .change(let from, let to, _, _) = folded.last, from == to, to.text == name {
                    continue
                }
            default: break
            }
            folded.append(row)
        }
        return folded
    }

    /// The rows that are shown, with nil where some are left out.
    ///
    /// They are the end, what surrounds each switch, the last row of each thread, and as much of
    /// the beginning as there is room for.
    private static func shortened(_ rows: [Row]) -> [Row?] {
        guard rows.count > mostRows else { return rows }
        var lastRows: [String: Int] = [:]
        var near: [Int] = []
        for (index, row) in rows.enumerated() {
            switch row {
            case .event(let name, _, _), .operation(let name, _, _): lastRows[name] = index
            case .change, .chance: near += index - 4...index + 4
            case .time: break
            }
        }
        var shown: Set<Int> = []
        let end = rows.count - mostRows / 3..<rows.count
        for index in [Array(end), near, lastRows.values.sorted(), Array(rows.indices)].joined()
        where rows.indices.contains(index) && shown.count < mostRows { shown.insert(index) }
        return rows.indices.flatMap { index -> [Row?] in
            if shown.contains(index) { return [rows[index]] }
            return shown.contains(index - 1) ? [nil] : []
        }
    }

    /// The threads that do more than end.
    private static func columns(of rows: [Row?]) -> [String] {
        var columns: [String] = []
        func add(_ name: String) { if !columns.contains(name) { columns.append(name) } }
        for case .some(let row) in rows {
            switch row {
            case .event(_, .ended, _), .event(_, .ends, _), .time: break
            case .event(let name, _, _), .chance(let name, _, _), .operation(let name, _, _):
                add(name)
            case .change(let from, let to, _, _):
                add(from.text)
                add(to.text)
            }
        }
        return columns
    }
}
