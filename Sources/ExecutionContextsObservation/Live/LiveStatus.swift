/// The status of an answer to a client.
enum LiveStatus: String {
    case ok = "200 OK"
    case bad = "400 Bad Request"
    case notFound = "404 Not Found"
    case notAllowed = "405 Method Not Allowed"
    case misdirected = "421 Misdirected Request"
    case tooLarge = "413 Content Too Large"
    case tooMany = "503 Service Unavailable"

    /// An answer without a page. It reveals nothing useful to a stranger.
    var answer: [UInt8] { head("text/plain", length: rawValue.utf8.count) + Array(rawValue.utf8) }

    /// The head of an answer. An answer of unknown length ends with the connection.
    ///
    /// - No other page may read or frame the answer, and no other server learns its address.
    /// - The page may run its own script and connect to this server, and load nothing else.
    func head(_ type: String, length: Int? = nil) -> [UInt8] {
        var lines = [
            "HTTP/1.1 \(rawValue)",
            "Content-Type: \(type); charset=utf-8",
            "Connection: close",
            "Cache-Control: no-store",
            "Content-Security-Policy: default-src 'none'; script-src 'unsafe-inline'; "
                + "style-src 'unsafe-inline'; connect-src 'self'; frame-ancestors 'none'; "
                + "base-uri 'none'; form-action 'none'",
            "Cross-Origin-Resource-Policy: same-origin",
            "Referrer-Policy: no-referrer",
            "X-Content-Type-Options: nosniff",
            "X-Frame-Options: DENY",
        ]
        if let length { lines.append("Content-Length: \(length)") }
        if self == .notAllowed { lines.append("Allow: GET") }
        return Array((lines.joined(separator: "\r\n") + "\r\n\r\n").utf8)
    }
}
