// The story for a terminal.
extension Story {
    /// The maximal width.
    private static let width = 98
    /// The least width of a column beside others.
    private static let narrowest = 16

    /// The lines of the story; with locations, the first column has those of the sources.
    func text(hasLocations: Bool = true) -> [String] {
        shortened(hasLocations: hasLocations).drawn(hasLocations: hasLocations)
    }

    private func drawn(hasLocations: Bool) -> [String] {
        let notes = hasLocations ? explanations + notes + whereabouts : notes
        guard !columns.isEmpty else { return notes }
        let gutter = hasLocations ? locations.map(\.count).max() ?? 0 : 0
        let side = gutter == 0 ? 0 : gutter + 3
        let room = (Self.width - side) / columns.count - 3
        let texts = room >= max(Self.narrowest, longestWord) ? beside(room) : below()
        guard gutter > 0 else { return texts.map(\.text.trimmedEnd) + notes }
        return texts.map { line in
            (Self.padded(line.location ?? "", gutter) + " | " + line.text).trimmedEnd
        } + notes
    }

    /// The length of the longest word, or of one that no column would have room for.
    private var longestWord: Int {
        let texts = lines.compactMap { line in
            if case .event(_, let text, _) = line.content { text } else { nil }
        }
        return texts.flatMap { $0.split(separator: " ") }.map(\.count).filter {
            $0 <= Self.width / 2
        }.max() ?? 0
    }

    private typealias Text = (text: String, location: String?)

    private var locations: [String] {
        lines.compactMap { line in
            if case .event(_, _, let location) = line.content { location } else { nil }
        }
    }

    // MARK: Columns beside each other

    private func beside(_ room: Int) -> [Text] {
        let widths = columns.indices.map { column in
            min(room, max(columns[column].count, widest(in: column), Self.narrowest))
        }
        let starts = widths.indices.map { widths[..<$0].reduce(0) { $0 + $1 + 3 } }
        func row(_ cells: [Int: String]) -> String {
            widths.indices.map { Self.padded(cells[$0] ?? "", widths[$0]) }
                .joined(separator: " | ")
        }
        var texts: [Text] = []
        for (column, name) in columns.enumerated() {
            for (index, part) in Self.wrapped(name, widths[column]).enumerated() {
                if index == texts.count { texts.append((row([:]), nil)) }
                texts[index].text = Self.replacing(texts[index].text, from: starts[column], part)
            }
        }
        texts.append(
            (widths.map { String(repeating: "-", count: $0) }.joined(separator: "-+-"), nil))
        // Draws the arrow in the first line of the event that it leads to.
        var lead: (start: Int, text: String)?
        for line in lines {
            switch line.content {
            case .event(let column, let text, let location):
                for (index, part) in Self.wrapped(text, widths[column]).enumerated() {
                    var cells = row([column: part])
                    if let (start, arrow) = lead.take() {
                        cells = Self.replacing(cells, from: start, arrow)
                    }
                    texts.append((cells, index == 0 ? location : nil))
                }
            case .passes(let from, let to) where from < to:
                let start = starts[from] + 2
                lead = (start, String(repeating: ".", count: starts[to] - start - 4) + ">")
            case .passes(let from, let to):
                let (start, end) = (starts[to] + widths[to] + 3, starts[from] + widths[from])
                lead = (start, "<" + String(repeating: ".", count: end - start - 3))
            case .change(let from, let to, let number):
                let (left, right) = (min(from, to), max(from, to))
                let start = starts[left] + (from < to ? 2 : 0)
                let end = starts[right] + (from < to ? 0 : 2)
                let arrow = Self.arrow(end - start, "switch \(number)", isToRight: from < to)
                texts.append((Self.replacing(row([:]), from: start, arrow), nil))
            case .remark(let text):
                texts.append((text, nil))
            }
        }
        return texts
    }

    private func widest(in column: Int) -> Int {
        lines.reduce(0) { widest, line in
            guard case .event(column, let text, _) = line.content else { return widest }
            return max(widest, text.count)
        }
    }

    /// An arrow with a word in it, or without it where there is no room.
    private static func arrow(_ length: Int, _ word: String, isToRight: Bool) -> String {
        let body = length - 1
        let label = body >= word.count + 4 ? " \(word) " : ""
        let before = (body - label.count) / 2
        let line =
            String(repeating: "-", count: before) + label
            + String(repeating: "-", count: body - before - label.count)
        return isToRight ? line + ">" : "<" + line
    }

    // MARK: Columns below each other

    /// Each line with its thread, where there are too many threads for columns.
    private func below() -> [Text] {
        lines.compactMap { line in
            switch line.content {
            case .passes: nil
            case .event(let column, let text, let location):
                ("\(columns[column]): \(text)", location)
            case .change(_, let to, let number):
                ("-> switch \(number): '\(columns[to])' runs", nil)
            case .remark(let text): (text, nil)
            }
        }
    }

    // MARK: Text

    private static func padded(_ text: String, _ width: Int) -> String {
        text + String(repeating: " ", count: max(width - text.count, 0))
    }

    /// The text with a part of it replaced, from an offset.
    private static func replacing(_ text: String, from start: Int, _ part: String) -> String {
        let rest = text.dropFirst(start + part.count)
        return padded(String(text.prefix(start)), start) + part + rest
    }

    /// The text in lines of at most `width` characters, broken between words where possible.
    private static func wrapped(_ text: String, _ width: Int) -> [String] {
        var (lines, rest) = ([String](), text[...])
        while rest.count > width {
            let head = rest.prefix(width + 1)
            let end = head.lastIndex(of: " ").flatMap { $0 > head.startIndex ? $0 : nil }
            let line = rest[..<(end ?? rest.index(rest.startIndex, offsetBy: width))]
            lines.append(String(line))
            rest = rest[line.endIndex...].drop { $0 == " " }
        }
        return lines + [String(rest)]
    }
}

extension String {
    /// The text without spaces at its end.
    fileprivate var trimmedEnd: String {
        String(self[..<(lastIndex { $0 != " " }.map(index(after:)) ?? startIndex)])
    }
}
