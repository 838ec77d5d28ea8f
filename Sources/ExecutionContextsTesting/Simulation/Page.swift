/// A page for a browser, which needs nothing from elsewhere.
enum Page {
    static func text(title: String, _ body: String) -> String {
        """
        <!doctype html>
        <html lang="en">
        <meta charset="utf-8">
        <meta name="viewport" content="width=device-width">
        <title>\(escaped(title))</title>
        <style>
        \(style)
        </style>
        <h1>\(escaped(title))</h1>
        \(body)
        </html>

        """
    }

    /// Names and values are the program's, and no part of the page.
    ///
    /// By scalars: for a browser, a bracket that a mark joins to one character is a bracket.
    static func escaped(_ text: String) -> String {
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
        td.missed { color: #c2410c; font-weight: 600; }
        code { overflow-wrap: anywhere; }
        """
}
