import Testing

@testable import ExecutionContextsObservation

/// Requests as a server reads them, well formed and not.
struct LiveRequestTests {
    private static let host = "Host: a:1\r\n"

    @Test func `A browser's request is read`() {
        let text =
            "GET /key/ HTTP/1.1\r\nHost:  a:1 \r\nUser-Agent: Mozilla/5.0 (X11)\r\n"
            + "Accept: text/html,*/*;q=0.8\r\nSec-Fetch-Site: none\r\n\r\n"
        #expect(LiveRequest(Array(text.utf8)) == .get(path: "/key/", host: "a:1"))
        // Each part of it is not yet one.
        for count in 0..<text.utf8.count {
            #expect(LiveRequest(Array(text.utf8.prefix(count))) == .incomplete)
        }
    }

    @Test(arguments: [
        "\r\n\r\n", "GET / HTTP/1.1\r\n\r\n", "GET  / HTTP/1.1\r\n\(host)\r\n",
        "GET /\r\n\(host)\r\n", "GET / HTTP/2\r\n\(host)\r\n", "GET / HTTP/1.1 \r\n\(host)\r\n",
        "GET http://a:1/ HTTP/1.1\r\n\(host)\r\n", "GET * HTTP/1.1\r\n\(host)\r\n",
        "GET / HTTP/1.1\r\n\(host)\(host)\r\n", "GET / HTTP/1.1\n\(host)\r\n",
        "GET / HTTP/1.1\r\nHost : a:1\r\n\r\n", "GET / HTTP/1.1\r\n \(host)\r\n",
        "GET / HTTP/1.1\r\n\(host) folded\r\n\r\n", "GET / HTTP/1.1\r\n\(host)none\r\n\r\n",
        "GET /\u{0} HTTP/1.1\r\n\(host)\r\n", "GET /é HTTP/1.1\r\n\(host)\r\n",
        "GET / HTTP/1.1\r\n\(host)X: a\rb\r\n\r\n", " GET / HTTP/1.1\r\n\(host)\r\n",
        "\r\nGET / HTTP/1.1\r\n\(host)\r\n",
    ])
    func `A malformed request is refused`(_ text: String) {
        #expect(LiveRequest(Array(text.utf8)) == .refused(.bad))
    }

    @Test(arguments: ["POST", "HEAD", "OPTIONS", "get", "PUT", "CONNECT"])
    func `Only GET is allowed`(_ method: String) {
        let text = "\(method) / HTTP/1.1\r\n\(Self.host)\r\n"
        #expect(LiveRequest(Array(text.utf8)) == .refused(.notAllowed))
    }

    @Test(arguments: ["Content-Length: 5", "content-length: 00", "Transfer-Encoding: chunked"])
    func `A request with a body is refused`(_ line: String) {
        let text = "GET / HTTP/1.1\r\n\(Self.host)\(line)\r\n\r\n"
        #expect(LiveRequest(Array(text.utf8)) == .refused(.tooLarge))
    }

    @Test func `A request that is too long is refused before it ends`() {
        let start = Array("GET / HTTP/1.1\r\n\(Self.host)X: ".utf8)
        func request(_ count: Int) -> [UInt8] {
            start + Array(repeating: 97, count: count - start.count)
        }
        #expect(LiveRequest(request(LiveRequest.limit - 1)) == .incomplete)
        #expect(LiveRequest(request(LiveRequest.limit)) == .refused(.tooLarge))
        #expect(LiveRequest(request(LiveRequest.limit) + [13, 10, 13, 10]) == .refused(.tooLarge))
    }

    @Test func `No mutation of a request is read as another path or host`() {
        let right = Array("GET /key/ HTTP/1.1\r\nHost: a:1\r\nAccept: */*\r\n\r\n".utf8)
        var random = SeededRNG(seed: 21)
        var reads = 0
        for _ in 0..<20_000 {
            var bytes = right
            for _ in 0...random.next(below: 3) {
                let at = random.next(below: bytes.count)
                switch random.next(below: 4) {
                case 0: bytes[at] = UInt8(random.next(below: 256))
                case 1: bytes.insert([9, 10, 13, 32, 58][random.next(below: 5)], at: at)
                case 2: bytes.remove(at: at)
                default: bytes += bytes[..<at]
                }
            }
            guard case .get(let path, let host) = LiveRequest(bytes) else { continue }
            reads += 1
            // What was read stands in the bytes, in the request line and in the line of the host.
            let text = String(decoding: bytes, as: UTF8.self)
            #expect(text.hasPrefix("GET \(path) HTTP/1."), "\(text)")
            #expect(text.lowercased().contains("host:"), "\(text)")
            #expect(text.contains(host) && !path.contains(" "), "\(text)")
        }
        #expect(reads > 500)
    }
}
