import Foundation
import Testing

@testable import Birds

/// Requests and responses as bytes, and the answers of the site.
struct HTTPTests {
    @Test(arguments: [
        ("GET /birds.json HTTP/1.1", "GET", "/birds.json"),
        ("GET /images/wren?size=8 HTTP/1.1", "GET", "/images/wren"),
        ("GET /images/snow%20bunting HTTP/1.0", "GET", "/images/snow bunting"),
        ("POST / HTTP/1.1", "POST", "/"),
    ])
    func `A request line has a method and a path`(line: String, method: String, path: String) throws
    {
        let head = Array("\(line)\r\nHost: 127.0.0.1\r\n\r\n".utf8)
        let request = try #require(HTTPRequest(head: head))
        #expect(request.method == method)
        #expect(request.path == path)
    }

    @Test(arguments: [
        "", "GET", "GET /", "GET  / HTTP/1.1", "GET birds HTTP/1.1", "GET / HTTP/2",
        "GET /%zz HTTP/1.1",
    ])
    func `A malformed request is not parsed`(_ line: String) {
        #expect(HTTPRequest(head: Array("\(line)\r\n\r\n".utf8)) == nil)
    }

    @Test func `A response has a type, a length and a body`() {
        let text = String(
            decoding: HTTPResponse.ok("text/plain", Data("wren".utf8)).bytes, as: UTF8.self)
        let head =
            "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 4\r\nConnection: close"
        #expect(text == head + "\r\n\r\nwren")
    }

    @Test(arguments: [
        ("GET", "/nowhere", 404), ("GET", "/images/dodo", 404), ("GET", "/images/", 404),
        ("GET", "/", 404),
        ("POST", "/birds.json", 405),
    ])
    func `A request without an answer fails with a status`(
        method: String, path: String, status: Int
    ) throws {
        let request = try #require(
            HTTPRequest(head: Array("\(method) \(path) HTTP/1.1\r\n\r\n".utf8)))
        #expect(BirdSite().answer(to: request) == .now(.failure(status)))
    }
}
