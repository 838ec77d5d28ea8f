import Foundation

/// A request of a client. Its headers are ignored.
struct HTTPRequest: Hashable, Sendable {
    let method: String
    /// The path without the query, percent-decoded.
    let path: String

    /// Parses the head of a request. Returns nil if it is malformed.
    init?(head: [UInt8]) {
        let line = String(decoding: head.prefix { $0 != 0x0D && $0 != 0x0A }, as: UTF8.self)
        let words = line.split(separator: " ", omittingEmptySubsequences: false)
        guard words.count == 3, words[2].hasPrefix("HTTP/1."), words[1].hasPrefix("/"),
            let path = words[1].prefix(while: { $0 != "?" }).removingPercentEncoding
        else { return nil }
        method = String(words[0])
        self.path = path
    }

    /// The most bytes that a head may have.
    static let headLimit = 8_192

    /// The bytes that end a head.
    static let headEnd: [UInt8] = Array("\r\n\r\n".utf8)
}
