import Foundation
import Testing

@testable import ExecutionContextsObservation

/// A client of a live timeline that says exactly what a test has it say. Its calls block.
final class LiveTestClient: Sendable {
    private let socket: LiveSocket

    /// Connects to a port of this machine; nil if nothing listens there.
    init?(port: UInt16) {
        let descriptor = Foundation.socket(AF_INET, SystemCalls.stream, 0)
        socket = LiveSocket(descriptor: descriptor)
        SystemCalls.silence(descriptor)
        var address = SystemCalls.loopback(port: port)
        // Unsafe in name only: the address outlives the call.
        let result = unsafe withUnsafePointer(to: &address) {
            unsafe $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                unsafe connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
        guard result == 0 else { return nil }
    }

    deinit { socket.close() }

    func send(_ text: String) { send(Array(text.utf8)) }

    /// Sends the bytes, unless the server hangs up before the last one.
    func send(_ bytes: [UInt8]) {
        var rest = bytes[...]
        while !rest.isEmpty, let count = socket.send(rest) { rest = rest.dropFirst(count) }
    }

    func endSending() { socket.endSending() }

    /// The next bytes; nil once the server has hung up.
    func receive() -> String? {
        var buffer = [UInt8](repeating: 0, count: 4_096)
        while true {
            switch socket.receive(&buffer) {
            case .bytes(let bytes): return String(decoding: bytes, as: UTF8.self)
            case .none: continue
            case .end: return nil
            }
        }
    }

    /// Everything up to the end of the connection.
    func receiveAll() -> String {
        var text = ""
        while let more = receive() { text += more }
        return text
    }
}

/// An address of a live timeline in parts.
struct LiveAddress {
    let port: UInt16
    let path: String

    init(_ address: String) throws {
        let url = try #require(URL(string: address))
        #expect(url.scheme == "http" && url.host == "127.0.0.1")
        port = UInt16(try #require(url.port))
        path = url.path.hasSuffix("/") ? url.path : url.path + "/"
    }

    var host: String { "127.0.0.1:\(port)" }

    func request(
        _ path: String? = nil, method: String = "GET", host: String? = nil, more: String = ""
    ) -> String {
        "\(method) \(path ?? self.path) HTTP/1.1\r\nHost: \(host ?? self.host)\r\n\(more)\r\n"
    }

    /// The answer to a request that is sent as it is.
    func answer(to request: String) throws -> String {
        let client = try #require(LiveTestClient(port: port))
        client.send(request)
        return client.receiveAll()
    }
}

/// The messages that a client gets.
final class LiveTestStream {
    private let client: LiveTestClient
    private var text = ""

    init(_ address: LiveAddress) throws {
        client = try #require(LiveTestClient(port: address.port))
        client.send(address.request(address.path + "events"))
    }

    /// The next message; nil once the server has hung up.
    func next() throws -> [String: Any]? {
        while true {
            if let end = text.range(of: "\n\n"), let start = text.range(of: "data: "),
                start.upperBound < end.lowerBound
            {
                let message = text[start.upperBound..<end.lowerBound]
                text.removeSubrange(..<end.upperBound)
                let object = try JSONSerialization.jsonObject(with: Data(message.utf8))
                return try #require(object as? [String: Any])
            }
            guard let more = client.receive() else { return nil }
            text += more
        }
    }

    /// Reads messages until one fits, and returns it.
    func first(where fits: ([String: Any]) -> Bool) throws -> [String: Any] {
        while true {
            let message = try #require(try next())
            if fits(message) { return message }
        }
    }

    /// Reads messages until so many events have come, and returns those.
    func events(_ count: Int) throws -> [[Int]] {
        var events: [[Int]] = []
        while events.count < count {
            events += try #require(try next())["events"] as? [[Int]] ?? []
        }
        return events
    }
}
