import Foundation

/// A response of the server. The connection ends with it.
struct HTTPResponse: Hashable, Sendable {
    var status: Int
    var type: String
    var body: Data

    static func ok(_ type: String, _ body: Data) -> HTTPResponse {
        .init(status: 200, type: type, body: body)
    }

    static func failure(_ status: Int) -> HTTPResponse {
        .init(
            status: status, type: "text/plain",
            body: Data("\(status) \(phrase(for: status))\n".utf8))
    }

    /// The response as it is sent.
    var bytes: Data {
        let head = [
            "HTTP/1.1 \(status) \(Self.phrase(for: status))", "Content-Type: \(type)",
            "Content-Length: \(body.count)", "Connection: close", "", "",
        ]
        return Data(head.joined(separator: "\r\n").utf8) + body
    }

    private static func phrase(for status: Int) -> String {
        switch status {
        case 200: "OK"
        case 400: "Bad Request"
        case 404: "Not Found"
        case 405: "Method Not Allowed"
        case 503: "Service Unavailable"
        default: "Unknown"
        }
    }
}
