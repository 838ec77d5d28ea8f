// The story for a browser.
extension Story {
    /// A page of its own, without anything from elsewhere.
    func page(title: String, happened: String, token: String?) -> String {
        let head = columns.map { "<th>\(Self.escaped($0))</th>" }.joined()
        let body = lines.map(row).joined(separator: "\n")
        let below = (notes + whereabouts).map { "<p>\(Self.escaped($0))</p>" }
            .joined(separator: "\n")
        let replay = token.map {
            "<p>Replay it with <code>EXECUTION_CONTEXTS_REPLAY=\(Self.escaped($0))</code></p>"
        }
        return """
            <!doctype html>
            <html lang="en">
            <meta charset="utf-8">
            <meta name="viewport" content="width=device-width">
            <title>\(Self.escaped(title))</title>
            <style>
            \(Self.style)
            </style>
            <h1>\(Self.escaped(title))</h1>
            <p>\(happened.split(separator: "\n").map { Self.escaped(String($0)) }.joined(separator: "<br>"))</p>
            <table>
            <thead><tr><th></th>\(head)</tr></thead>
            <tbody>
            \(body)
            </tbody>
            </table>
            \(below)
            \(replay ?? "")
            </html>

            """
    }

    private func row(_ line: Line) -> String {
        switch line.content {
        case .event(let column, let text, let location):
            let cells = columns.indices.map {
                $0 == column ? "<td class=on>\(Self.escaped(text))</td>" : "<td></td>"
            }
            return "<tr><td class=at>\(Self.escaped(location ?? ""))</td>\(cells.joined())</tr>"
        case .change(let from, let to, let number):
            let (left, right) = (min(from, to), max(from, to))
            let arrow = from == to ? "&#8635;" : from < to ? "&#8594;" : "&#8592;"
            return "<tr class=change><td class=at></td>" + Self.empty(left)
                + "<td colspan=\(right - left + 1) class=\(from <= to ? "right" : "left")>"
                + "switch \(number) \(arrow)</td>" + Self.empty(columns.count - right - 1) + "</tr>"
        case .remark(let text):
            return
                "<tr class=remark><td class=at></td><td colspan=\(max(columns.count, 1))>\(Self.escaped(text))</td></tr>"
        }
    }

    private static func empty(_ count: Int) -> String {
        String(repeating: "<td></td>", count: count)
    }

    /// Names and values are the program's, and no part of the page.
    ///
    /// By scalars: for a browser, a bracket that a mark joins to one character is a bracket.
    private static func escaped(_ text: String) -> String {
        var escaped = ""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "&": escaped += "&amp;"
            case "<": escaped += "&lt;"
            case ">": escaped += "&gt;"
            case "\"": escaped += "&quot;"
            default: escaped.unicodeScalars.append(scalar)
            }
        }
        return escaped
    }

    private static let style = """
        :root { color-scheme: light dark; font: 15px/1.45 system-ui, sans-serif; }
        body { margin: 2rem auto; max-width: 72rem; padding: 0 1rem; }
        h1 { font-size: 1.3rem; }
        table { border-collapse: collapse; width: 100%; font: 13px/1.5 ui-monospace, monospace; }
        th { position: sticky; top: 0; background: Canvas; text-align: left; padding: .4rem .6rem; }
        td { padding: .1rem .6rem; vertical-align: top; border-left: 1px solid #8884; }
        td.at { color: GrayText; border: 0; white-space: nowrap; text-align: right; }
        td.on { border-left: 3px solid #3b82f6; background: #3b82f614; overflow-wrap: anywhere; }
        tr.change td[colspan] { color: #c2410c; border-top: 2px solid; }
        tr.change td.right { text-align: right; }
        tr.remark td { color: GrayText; font-style: italic; }
        code { overflow-wrap: anywhere; }
        """
}
