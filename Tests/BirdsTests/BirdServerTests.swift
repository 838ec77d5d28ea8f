import ExecutionContexts
import ExecutionContextsTesting
import Foundation
import Testing

@testable import Birds

/// The service over a real server, and the server itself.
@Suite(.timeLimit(.minutes(1)))
struct BirdServerTests {
    private let log = EventLog()
    private let clock = ManualContext()
    private let context: any SerialContext = GlobalContext().serial("session")

    /// Runs `body` with a server that is stopped after it.
    private func withServer(limit: Int = 32, _ body: (BirdServer) async throws -> Void) async throws {
        let hour = Duration.seconds(3_600)
        let server = try BirdServer(limit: limit, patience: hour, slowness: hour, clock: clock) { [log] in
            log.add($0)
        }
        do { try await body(server) } catch {
            await server.stop()
            throw error
        }
        await server.stop()
    }

    private func transport(_ server: BirdServer) -> URLSessionTransport {
        URLSessionTransport(base: server.url, on: context)
    }

    @Test func `The birds come over the network, on the context for callbacks`() async throws {
        try await withServer { server in
            let callbacks = GlobalContext().serial("callbacks")
            let dataSource = BirdDataSource(
                transport: transport(server), workingOn: context, callingBackOn: callbacks)
            let (result, isInPlace) = await withCheckedContinuation { done in
                dataSource.getBirds { done.resume(returning: ($0, callbacks.isCurrent)) }
            }
            let birds = try result.get()
            #expect(birds == BirdSite.birds(BirdSite().names))
            #expect(isInPlace == true)
        }
        #expect(log.events.count == 7)
    }

    @Test func `A session calls back on the context whose operation queue it has`() async throws {
        try await withServer { server in
            let transport = transport(server)
            let isCurrent = await withCheckedContinuation { done in
                transport.get("/birds.json") { [context] _ in done.resume(returning: context.isCurrent) }
            }
            #expect(isCurrent == true)
        }
    }

    @Test func `What is not there is an error with the server's status`() async throws {
        try await withServer { server in
            await #expect(throws: BirdError.status(404, path: "/nowhere")) {
                try await transport(server).data(at: "/nowhere")
            }
        }
        #expect(log.events == [.answered(path: "/nowhere", status: 404)])
    }

    @Test func `An answer that breaks off is an error, not half an answer`() async throws {
        try await withServer { server in
            await #expect(throws: (any Error).self) { try await transport(server).data(at: "/broken") }
        }
        #expect(log.events == [.brokeOff(path: "/broken")])
    }

    @Test func `Law 7: a slow answer takes as long as the server's clock says, and holds up nobody`()
        async throws
    {
        try await withServer { server in
            let transport = transport(server)
            async let slow = transport.data(at: "/slow")
            await log.wait(for: .parked(path: "/slow"))
            let list = try await transport.data(at: "/birds.json")
            clock.advance(by: .seconds(3_600))
            #expect(try await slow == list)
        }
    }

    @Test func `Stopping ends who waits for an answer and who says nothing, and leaves nothing`() async throws
    {
        try await withServer { server in
            let silent = try await BlockingContext().run { try Socket.connected(to: server.port) }
            defer { silent.free() }
            let transport = transport(server)
            let slow = Task { try await transport.data(at: "/slow") }
            await log.wait(for: .parked(path: "/slow"))
            await server.stop()
            #expect(clock.delayedCount == 0)
            await #expect(throws: (any Error).self) { try await slow.value }
            #expect(try await BlockingContext().run { try silent.receiveSome() } == [])
        }
    }

    @Test func `Who comes when there are enough is turned away`() async throws {
        try await withServer(limit: 1) { server in
            let answer = try await BlockingContext().run {
                let first = try Socket.connected(to: server.port)
                defer { first.free() }
                return try Self.conversation("", with: server)
            }
            #expect(answer.hasPrefix("HTTP/1.1 503 "))
        }
        #expect(log.events.first == .turnedAway)
    }

    @Test(arguments: [("POST /birds.json HTTP/1.1", 405), ("Good day", 400)])
    func `What the server does not understand it says so`(line: String, status: Int) async throws {
        try await withServer { server in
            let answer = try await BlockingContext().run {
                try Self.conversation("\(line)\r\n\r\n", with: server)
            }
            #expect(answer.hasPrefix("HTTP/1.1 \(status) "))
        }
    }

    /// Says something to the server and returns all that it answers. It blocks its thread.
    private static func conversation(_ text: String, with server: BirdServer) throws(SystemError) -> String {
        let socket = try Socket.connected(to: server.port)
        defer { socket.free() }
        try socket.sendAll(text.utf8)
        var answer: [UInt8] = []
        while case let more = try socket.receiveSome(), !more.isEmpty { answer += more }
        return String(decoding: answer, as: UTF8.self)
    }
}

extension Transport {
    fileprivate func data(at path: String) async throws -> Data {
        try await withCheckedThrowingContinuation { done in get(path) { done.resume(with: $0) } }
    }
}
