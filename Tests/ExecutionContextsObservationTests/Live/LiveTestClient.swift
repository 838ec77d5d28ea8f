import Foundation
import Testing

@testable import ExecutionContextsObservation

/// A client of a live timeline that says exactly what a test has it say. Its calls block.
final class LiveTestClient: Sendable {
    private let socket: LiveSocket

    /// Connects to a port of this machine; nil if nothing listens there. `buffer` is how many bytes
    /// the system keeps for the client, about; nil for as many as it likes.
    init?(port: UInt16, buffer: Int32? = nil) {
        let descriptor = Foundation.socket(AF_INET, SystemCalls.stream, 0)
        socket = LiveSocket(descriptor: descriptor)
        SystemCalls.silence(descriptor)
        if var buffer {
            // Unsafe in name only: the value outlives the call.
            _ = unsafe setsockopt(
                descriptor, SOL_SOCKET, SO_RCVBUF, &buffer,
                socklen_t(MemoryLayout.size(ofValue: buffer)))
        }
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

    /// The next bytes as a text; nil once the server has hung up.
    func receive() -> String? { receiveBytes().map { String(decoding: $0, as: UTF8.self) } }

    /// The next bytes; nil once the server has hung up.
    func receiveBytes() -> ArraySlice<UInt8>? {
        var buffer = [UInt8](repeating: 0, count: 16_384)
        while true {
            switch socket.receive(&buffer) {
            case .bytes(let bytes): return bytes
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
    /// What has come and was not returned.
    private var bytes = Data()

    init(_ address: LiveAddress, buffer: Int32? = nil) throws {
        client = try #require(LiveTestClient(port: address.port, buffer: buffer))
        client.send(address.request(address.path + "events"))
    }

    /// The next message; nil once the server has hung up.
    func next() throws -> [String: Any]? {
        while true {
            if let end = bytes.range(of: Data("\n\n".utf8)),
                let start = bytes.range(of: Data("data: ".utf8)),
                start.upperBound < end.lowerBound
            {
                let message = bytes[start.upperBound..<end.lowerBound]
                bytes.removeSubrange(..<end.upperBound)
                let object = try JSONSerialization.jsonObject(with: message)
                return try #require(object as? [String: Any])
            }
            guard let more = client.receiveBytes() else { return nil }
            bytes.append(contentsOf: more)
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
