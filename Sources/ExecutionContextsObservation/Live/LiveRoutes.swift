/// The routes of a server, under its secret address.
struct LiveRoutes: Sendable {
    private let port: UInt16
    /// The names by which clients address this server.
    private let hosts: [String]
    private let token: String
    /// The page with its head, as it is sent.
    let page: [UInt8]

    init(port: UInt16, page: [UInt8]) {
        self.port = port
        let names = ["127.0.0.1", "localhost"]
        // Clients omit the default port of the protocol.
        hosts = names.map { "\($0):\(port)" } + (port == 80 ? names : [])
        // 128 random bits, from the system's secure source.
        var random = SystemRandomNumberGenerator()
        token = (0..<2).map { _ in
            let digits = String(random.next(), radix: 16)
            return String(repeating: "0", count: 16 - digits.count) + digits
        }.joined()
        self.page = LiveStatus.ok.head("text/html", length: page.count) + page
    }

    var address: String { "http://127.0.0.1:\(port)/\(token)/" }

    enum Answer: Equatable {
        case page
        case events
        case refusal(LiveStatus)
    }

    func answer(path: String, host: String) -> Answer {
        // A foreign site may point its own name at this machine to read the answer (DNS rebinding).
        guard hosts.contains(host.lowercased()) else { return .refusal(.misdirected) }
        if Self.isEqual(path, "/\(token)/") { return .page }
        if Self.isEqual(path, "/\(token)/events") { return .events }
        return .refusal(.notFound)
    }

    /// Takes the same time for each wrong path of one length, so that timing reveals nothing about
    /// the secret.
    private static func isEqual(_ path: String, _ secret: String) -> Bool {
        guard path.utf8.count == secret.utf8.count else { return false }
        return zip(path.utf8, secret.utf8).reduce(UInt8(0)) { $0 | ($1.0 ^ $1.1) } == 0
    }
}
