internal import ExecutionContexts

/// Text for JSON and HTML; written by hand, so that it can be built in parts.
enum JSONText {
    /// Returns a string literal, with its quotes.
    ///
    /// Also escapes the characters that JSON allows but that could end a script in a page.
    static func quoted(_ text: String) -> String {
        var quoted = "\""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\"": quoted += "\\\""
            case "\\": quoted += "\\\\"
            case "<", ">", "&", "'", "\u{2028}", "\u{2029}", "\u{0}"..<"\u{20}", "\u{7F}":
                let digits = String(scalar.value, radix: 16)
                quoted += "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
            default: quoted.unicodeScalars.append(scalar)
            }
        }
        return quoted + "\""
    }

    /// Returns text for use between tags or in an attribute.
    static func inHTML(_ text: String) -> String {
        var safe = ""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "<": safe += "&lt;"
            case ">": safe += "&gt;"
            case "&": safe += "&amp;"
            case "\"": safe += "&quot;"
            case "'": safe += "&#39;"
            // A page must not contain these at all.
            case "\u{0}"..<"\u{9}", "\u{B}"..<"\u{20}", "\u{7F}": safe += "\u{FFFD}"
            default: safe.unicodeScalars.append(scalar)
            }
        }
        return safe
    }

    /// Returns nanoseconds as microseconds, exactly and without needless zeros.
    static func microseconds(_ nanoseconds: Int64) -> String {
        let (whole, rest) = nanoseconds.magnitude.quotientAndRemainder(dividingBy: 1000)
        var text = (nanoseconds < 0 ? "-" : "") + String(whole)
        guard rest > 0 else { return text }
        var digits = String(rest)
        digits = String(repeating: "0", count: 3 - digits.count) + digits
        while digits.hasSuffix("0") { digits.removeLast() }
        text += "."
        return text + digits
    }

    /// Returns a duration in a suitable unit, with three digits.
    static func duration(_ duration: Duration) -> String {
        let nanoseconds = duration.nanoseconds
        for (unit, size) in [("s", 1_000_000_000), ("ms", 1_000_000), ("µs", 1_000)]
        where nanoseconds.magnitude >= UInt64(size) {
            let hundredths = nanoseconds.magnitude / (UInt64(size) / 100)
            let (whole, rest) = hundredths.quotientAndRemainder(dividingBy: 100)
            let digits: String
            switch whole {
            case 100...: digits = "\(whole)"
            case 10...: digits = "\(whole).\(rest / 10)"
            default: digits = "\(whole).\(rest < 10 ? "0" : "")\(rest)"
            }
            return (nanoseconds < 0 ? "-" : "") + digits + " " + unit
        }
        return "\(nanoseconds) ns"
    }
}

extension Duration {
    /// The duration in whole nanoseconds, clamped to 292 years.
    var nanoseconds: Int64 { ContextInstant(nanoseconds: 0).advanced(by: self).nanoseconds }
}
