import ExecutionContexts
import ExecutionContextsTesting
import Foundation
import Testing

@testable import ExecutionContextsObservation

/// A timeline that is served while the program runs; `.ci/browser` opens one in a browser.
struct LiveTimelineTests {
    @Test func `The address leads to the page, and the page has the key to the events only in it`()
        async throws
    {
        let recorder = Recorder()
        let live = try recorder.serve(title: "Mine & more")
        let address = try LiveAddress(live.address)
        await offThePool {
            let answer = try? address.answer(to: address.request())
            #expect(answer?.hasPrefix("HTTP/1.1 200 OK\r\n") == true)
            #expect(answer?.contains("<title>Mine &amp; more</title>") == true)
            #expect(answer?.contains("<canvas") == true)
            #expect(answer?.contains("Content-Security-Policy: default-src 'none'") == true)
            #expect(answer?.contains("Referrer-Policy: no-referrer") == true)
            // The page finds the events beside itself.
            let token = address.path.filter { $0 != "/" }
            #expect(token.count == 32 && answer?.contains(token) == false)
        }
        live.stop()
    }

    @Test func `Each timeline has a port and a token of its own`() throws {
        let recorder = Recorder()
        let all = try (0..<4).map { _ in try recorder.serve() }
        let addresses = try all.map { try LiveAddress($0.address) }
        #expect(Set(addresses.map(\.path)).count == 4)
        #expect(Set(addresses.map(\.port)).count == 4)
        #expect(throws: LiveTimeline.Failure.self) {
            try recorder.serve(port: addresses[0].port).stop()
        }
        withExtendedLifetime(all) {}
    }

    @Test(arguments: ["127.0.0.1", "localhost", "127.0.0.1:80", "LOCALHOST:80"])
    func `Clients leave the default port out`(host: String) {
        let routes = LiveRoutes(port: 80, page: [])
        let path = String(routes.address.drop { $0 != "/" }.dropFirst(2).drop { $0 != "/" })
        #expect(routes.answer(path: path, host: host) == .page)
        let other = LiveRoutes(port: 8080, page: [])
        #expect(other.answer(path: path, host: host) == .refusal(.misdirected))
    }

    @Test func `Law 34: a forked child does not end the timeline of its parent`() async {
        await #expect(processExitsWith: .success) {
            let live = try Recorder().serve()
            let address = try LiveAddress(live.address)
            inForkedChild(isWarm: false) { live.stop() }
            let answer = try address.answer(to: address.request())
            precondition(answer.hasPrefix("HTTP/1.1 200 OK"))
            live.stop()
        }
    }

    @Test func `A request without the address is refused`() async throws {
        let live = try Recorder().serve()
        let address = try LiveAddress(live.address)
        let (path, port) = (address.path, address.port)
        let wrong = String(path.dropLast(2)) + (path.hasSuffix("0/") ? "1/" : "0/")
        let refused = [
            (address.request("/"), 404), (address.request("/events"), 404),
            (address.request(wrong), 404), (address.request(wrong + "events"), 404),
            (address.request(String(path.dropLast())), 404), (address.request(path + "?"), 404),
            (address.request(path + "../" + path), 404), (address.request("//"), 404),
            (address.request(path + "events/"), 404),
            (address.request(path.uppercased() + "x"), 404),
            (address.request(host: "evil.example"), 421), (address.request(host: "127.0.0.1"), 421),
            (address.request(host: "evil.example:\(port)"), 421),
            (address.request(host: "127.0.0.1:\(port).evil.example"), 421),
            (address.request(path + "events", host: "evil.example:\(port)"), 421),
            (address.request(method: "POST", more: "Content-Length: 3\r\n"), 413),
            (address.request(method: "POST"), 405), (address.request(method: "HEAD"), 405),
            (address.request(more: "Host: evil.example\r\n"), 400), ("\r\n\r\n", 400),
            (address.request(more: "X: " + String(repeating: "a", count: 9_000) + "\r\n"), 413),
        ]
        await offThePool {
            for (request, status) in refused {
                let answer = (try? address.answer(to: request)) ?? ""
                #expect(answer.hasPrefix("HTTP/1.1 \(status) "), "\(request)\n\(answer.prefix(50))")
                #expect(!answer.contains("canvas") && !answer.contains("data:"))
            }
            let accepted = [
                address.request(), address.request(host: "localhost:\(port)"),
                address.request(host: "LOCALHOST:\(port)"),
            ]
            for request in accepted {
                #expect((try? address.answer(to: request))?.hasPrefix("HTTP/1.1 200 ") == true)
            }
        }
        live.stop()
    }

    @Test func `A client that ends its sending first is answered as well`() async throws {
        let live = try Recorder().serve()
        let address = try LiveAddress(live.address)
        await offThePool {
            let client = LiveTestClient(port: address.port)
            client?.send(address.request())
            client?.endSending()
            #expect(client?.receiveAll().hasSuffix("</html>\n") == true)
        }
        live.stop()
    }

    @Test func `Stopping and releasing end the connections and free the port`() async throws {
        for isReleased in [false, true] {
            var live: LiveTimeline? = try Recorder().serve()
            let address = try LiveAddress(try #require(live).address)
            let stream = try LiveTestStream(address)
            #expect(try stream.next() != nil)
            if !isReleased { live?.stop() }
            live = nil
            while try stream.next() != nil {}
            #expect(LiveTestClient(port: address.port) == nil)
        }
    }

    @Test func `A timeline leaves no thread and no descriptor behind`() async {
        await #expect(processExitsWith: .success) {
            func count(_ folder: String) -> Int {
                ((try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []).count
            }
            func counts() -> [Int] { [count("/proc/self/fd"), count("/proc/self/task")] }
            let recorder = Recorder()
            var before: [Int] = []
            for round in 0..<50 {
                // The first round makes what the process keeps.
                if round == 1 { before = counts() }
                let live = try recorder.serve()
                let address = try LiveAddress(live.address)
                _ = try address.answer(to: address.request())
                let stream = try LiveTestStream(address)
                let message = try stream.next()
                precondition(message != nil)
                let idle = LiveTestClient(port: address.port)
                if round % 2 == 0 { live.stop() }
                withExtendedLifetime((stream, idle)) {}
            }
            // The system's own threads come and go, but not one for each round.
            let after = counts()
            precondition(zip(before, after).allSatisfy { $1 < $0 + 10 }, "\(before), \(after)")
        }
    }
}
