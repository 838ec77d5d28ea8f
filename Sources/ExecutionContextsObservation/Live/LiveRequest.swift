/// A request from a client, parsed strictly: unusual requests are refused.
enum LiveRequest: Equatable {
    /// More bytes are needed.
    case incomplete
    /// A `GET` for a path, and the host that the client addressed.
    case get(path: String, host: String)
    case refused(LiveStatus)

    /// The most bytes of a request; a browser sends about 600.
    static let limit = 8_192

    /// Reads the head of a request: lines of printable ASCII, and an empty line at the end.
    init(_ bytes: [UInt8]) {
        guard let end = Self.end(of: bytes) else {
            self = bytes.count >= Self.limit ? .refused(.tooLarge) : .incomplete
            return
        }
        guard end < Self.limit else {
            self = .refused(.tooLarge)
            return
        }
        guard let lines = Self.lines(of: bytes[..<end]) else {
            self = .refused(.bad)
            return
        }
        self = Self.read(lines)
    }

    /// The lines of a head; nil if it contains a forbidden character or line ending.
    private static func lines(of head: ArraySlice<UInt8>) -> [Substring]? {
        var lines: [Substring] = []
        for line in head.split(separator: 13, omittingEmptySubsequences: false) {
            let text = lines.isEmpty ? line : line.dropFirst()
            guard lines.isEmpty || line.first == 10, text.allSatisfy({ $0 == 9 || 32..<127 ~= $0 })
            else { return nil }
            lines.append(Substring(String(decoding: text, as: UTF8.self)))
        }
        return lines
    }

    /// The index of the empty line that ends the head.
    private static func end(of bytes: [UInt8]) -> Int? {
        guard bytes.count >= 4 else { return nil }
        return (0...bytes.count - 4).first {
            bytes[$0] == 13 && bytes[$0 + 1] == 10 && bytes[$0 + 2] == 13 && bytes[$0 + 3] == 10
        }
    }

    private static func read(_ lines: [Substring]) -> LiveRequest {
        let parts = lines[0].split(separator: " ", omittingEmptySubsequences: false)
        guard parts.count == 3, ["HTTP/1.1", "HTTP/1.0"].contains(parts[2]), !parts[0].isEmpty,
            parts[1].hasPrefix("/")
        else { return .refused(.bad) }
        var hosts: [String] = []
        for line in lines.dropFirst() {
            guard let colon = line.firstIndex(of: ":") else { return .refused(.bad) }
            let name = line[..<colon].lowercased()
            // A space before the colon, or at the start of the line, has misled servers before.
            guard !name.isEmpty,
                name.allSatisfy({ $0.isLetter || $0.isNumber || "-_.".contains($0) })
            else { return .refused(.bad) }
            let value = line[line.index(after: colon)...].trimmed
            switch name {
            case "host": hosts.append(value)
            case "content-length" where value != "0": return .refused(.tooLarge)
            case "transfer-encoding": return .refused(.tooLarge)
            default: break
            }
        }
        guard hosts.count == 1 else { return .refused(.bad) }
        guard parts[0] == "GET" else { return .refused(.notAllowed) }
        return .get(path: String(parts[1]), host: hosts[0])
    }
}

extension Substring {
    /// The text without spaces and tabs around it.
    fileprivate var trimmed: String {
        let isSpace = { (character: Character) in character == " " || character == "\t" }
        var text = drop(while: isSpace)
        while let last = text.last, isSpace(last) { text.removeLast() }
        return String(text)
    }
}
