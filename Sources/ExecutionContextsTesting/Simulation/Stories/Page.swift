/// A self-contained page for a browser.
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

    /// Escapes names and values of the program.
    ///
    /// By Unicode scalars: a bracket followed by a combining character is one `Character`, but a
    /// browser still sees a bracket.
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
        :root { color-scheme: light dark; font: 15px/1.45 system-ui, sans-serif;
          --lane: #8886; --switch: light-dark(#c2410c, #fb923c); }
        body { margin: 2rem auto; max-width: 72rem; padding: 0 1rem; }
        h1 { font-size: 1.3rem; }
        pre { font: 13px/1.5 ui-monospace, monospace; white-space: pre-wrap; }
        table { border-collapse: collapse; width: 100%; font: 13px/1.5 ui-monospace, monospace; }
        th { position: sticky; top: 0; background: Canvas; text-align: left; padding: .4rem .6rem; }
        td { padding: .1rem .6rem; vertical-align: top; border-left: 1px solid #8884; }
        td.at { color: GrayText; border: 0; white-space: nowrap; text-align: right; width: 1px; }
        td.missed { color: var(--switch); font-weight: 600; }
        code { overflow-wrap: anywhere; }

        .story td { border-left: 2px solid var(--lane); }
        .story td.at { border: 0; }
        .story td.on { border-left: 6px solid var(--own); overflow-wrap: anywhere;
          background: color-mix(in srgb, var(--own) 9%, transparent); }
        .lane0 { --own: #3b82f6; } .lane1 { --own: #10a37f; } .lane2 { --own: #a855f7; }
        .lane3 { --own: #d4a017; } .lane4 { --own: #ec4899; } .lane5 { --own: #64748b; }
        td.arrow { position: relative; height: 1rem; padding: 0; text-align: center; color: GrayText; }
        tr.change td { height: 1.9rem; color: var(--switch); font-weight: 600; }
        td.arrow::before { content: ""; position: absolute; left: 0; right: 2px; top: 50%;
          border-top: 1px solid; }
        tr.change td.arrow::before { border-top-width: 3px; margin-top: -1px; }
        td.arrow::after { content: ""; position: absolute; top: 50%; margin-top: -5px;
          border: 5px solid transparent; }
        td.right::after { right: 0; border-left-color: currentColor; border-right: 0; }
        td.left::after { left: 0; border-right-color: currentColor; border-left: 0; }
        td.arrow span { position: relative; top: .25rem; background: Canvas; padding: 0 .5rem; }
        tr.remark td { color: GrayText; font-style: italic; }
        """
}
