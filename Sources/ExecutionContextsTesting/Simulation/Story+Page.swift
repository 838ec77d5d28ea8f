// The story for a browser.
extension Story {
    /// A page of its own, without anything from elsewhere.
    func page(title: String, happened: String, token: String?) -> String {
        let head = columns.map { "<th>\(Page.escaped($0))</th>" }.joined()
        let body = lines.map(row).joined(separator: "\n")
        let below = (notes + whereabouts).map { "<p>\(Page.escaped($0))</p>" }
            .joined(separator: "\n")
        let replay = token.map {
            "<p>Replay it with <code>EXECUTION_CONTEXTS_REPLAY=\(Page.escaped($0))</code></p>"
        }
        return Page.text(
            title: title,
            """
            <p>\(happened.split(separator: "\n").map { Page.escaped(String($0)) }.joined(separator: "<br>"))</p>
            <table>
            <thead><tr><th></th>\(head)</tr></thead>
            <tbody>
            \(body)
            </tbody>
            </table>
            \(below)
            \(replay ?? "")
            """)
    }

    private func row(_ line: Line) -> String {
        switch line.content {
        case .event(let column, let text, let location):
            let cells = columns.indices.map {
                $0 == column ? "<td class=on>\(Page.escaped(text))</td>" : "<td></td>"
            }
            return "<tr><td class=at>\(Page.escaped(location ?? ""))</td>\(cells.joined())</tr>"
        case .change(let from, let to, let number):
            let (left, right) = (min(from, to), max(from, to))
            let arrow = from == to ? "&#8635;" : from < to ? "&#8594;" : "&#8592;"
            return "<tr class=change><td class=at></td>" + Self.empty(left)
                + "<td colspan=\(right - left + 1) class=\(from <= to ? "right" : "left")>"
                + "switch \(number) \(arrow)</td>" + Self.empty(columns.count - right - 1) + "</tr>"
        case .remark(let text):
            return
                "<tr class=remark><td class=at></td><td colspan=\(max(columns.count, 1))>\(Page.escaped(text))</td></tr>"
        }
    }

    private static func empty(_ count: Int) -> String {
        String(repeating: "<td></td>", count: count)
    }
}
