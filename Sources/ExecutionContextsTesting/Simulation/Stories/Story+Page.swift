// The story for a browser.
extension Story {
    /// A self-contained page.
    ///
    /// Each thread has a lane, with time downwards. An arrow from lane to lane shows that another
    /// thread runs next: a thick one with a number where it is a switch, else a thin one.
    func page(title: String, happened: String, token: String?) -> String {
        let story = shortened(hasLocations: true)
        let head = columns.map { "<th>\(Page.escaped($0))</th>" }.joined()
        let body = story.lines.map { story.row($0.content) }.joined(separator: "\n")
        let below = (explanations + notes + whereabouts).map { "<p>\(Page.escaped($0))</p>" }
            .joined(separator: "\n")
        let replay = token.map {
            "<p>Replay it with <code>EXECUTION_CONTEXTS_REPLAY=\(Page.escaped($0))</code></p>"
        }
        // A text of several lines is preformatted.
        let (open, close) = happened.contains("\n") ? ("<pre>", "</pre>") : ("<p>", "</p>")
        return Page.text(
            title: title,
            """
            \(open)\(Page.escaped(happened))\(close)
            <table class=story>
            <thead><tr><th></th>\(head)</tr></thead>
            <tbody>
            \(body)
            </tbody>
            </table>
            \(below)
            \(replay ?? "")
            """)
    }

    private func row(_ content: Line.Content) -> String {
        switch content {
        case .event(let column, let text, let location):
            let cell = "<td class='on lane\(column % 6)'>\(Page.escaped(text))</td>"
            return "<tr>" + Self.margin(location ?? "") + Self.empty(column) + cell
                + Self.empty(columns.count - column - 1) + "</tr>"
        case .passes(let from, let to):
            return arrow(from, to, "passes", "")
        case .change(let from, let to, let number):
            return arrow(from, to, "change", "<span>switch \(number)</span>")
        case .remark(let text):
            return "<tr class=remark>" + Self.margin()
                + "<td colspan=\(max(columns.count, 1))>\(Page.escaped(text))</td></tr>"
        }
    }

    /// An arrow between the left edges of two columns, where their lanes are.
    private func arrow(_ from: Int, _ to: Int, _ kind: String, _ label: String) -> String {
        let (left, right) = (min(from, to), max(from, to))
        return "<tr class=\(kind)>" + Self.margin() + Self.empty(left)
            + "<td class='arrow \(from < to ? "right" : "left")' colspan=\(right - left)>"
            + "\(label)</td>" + Self.empty(columns.count - right) + "</tr>"
    }

    private static func margin(_ text: String = "") -> String {
        "<td class=at>\(Page.escaped(text))</td>"
    }

    private static func empty(_ count: Int) -> String {
        String(repeating: "<td></td>", count: count)
    }
}
