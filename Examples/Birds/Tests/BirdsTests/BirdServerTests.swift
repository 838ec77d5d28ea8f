import ExecutionContexts
import ExecutionContextsTesting
import Foundation
import TestSupport
import Testing

@testable import Birds

/// The service over a real server, and the server itself.
@Suite(.patient)
struct BirdServerTests {
    private let log = EventLog()
    private let clock = ManualContext()
    private let context: any SerialContext = GlobalContext().serial(named: "session")

    /// Runs `body` with a server, and stops the server afterwards.
    private func withServer(limit: Int = 32, _ body: (BirdServer) async throws -> Void) async throws
    {
        let hour = Duration.seconds(3_600)
        let server = try BirdServer(limit: limit, patience: hour, slowness: hour, clock: clock) {
            [log] in
            log.add($0)
        }
        do { try await body(server) } catch {
            await server.stop()
            throw error
        }
        await server.stop()
    }

    private func transport(_ server: BirdServer) -> URLSessionTransport {
        // On a busy machine a test may be delayed for long, while the session's time limit runs.
        URLSessionTransport(base: server.url, on: context, patience: Patience.event)
    }

    @Test(arguments: Form.allCases)
    func `The birds come over the network, on the caller's context`(_ form: Form) async throws {
        try await withServer { server in
            let callbacks = GlobalContext().serial(named: "callbacks")
            let dataSource = BirdDataSource(transport: transport(server), workingOn: context)
            let (result, isOnContext) = try await Async.fromCallback { done in
                form.getBirds(from: dataSource, on: callbacks) { done(($0, callbacks.isCurrent)) }
            }.get()
            let birds = try result.get()
            #expect(birds == BirdSite.birds(BirdSite().names))
            #expect(isOnContext == true)
        }
        #expect(log.events.count == 7)
    }

    @Test func `A session answers on the context whose operation queue it has`() async throws {
        try await withServer { server in
            // Slow, so that the callback is registered before the answer comes.
            let answer = transport(server).get("/slow").map { [context] _ in context.isCurrent }
            try await log.wait(for: .parked(path: "/slow")).get()
            clock.advance(by: .seconds(3_600))
            #expect(try await answer.get() == true)
        }
    }

    @Test func `A missing path is an error with the server's status`() async throws {
        try await withServer { server in
            await #expect(throws: BirdError.status(404, path: "/nowhere")) {
                try await transport(server).get("/nowhere").get()
            }
        }
        #expect(log.events == [.answered(path: "/nowhere", status: 404)])
    }

    @Test func `A truncated answer is an error`() async throws {
        try await withServer { server in
            await #expect(throws: (any Error).self) {
                try await transport(server).get("/broken").get()
            }
        }
        #expect(log.events == [.brokeOff(path: "/broken")])
    }

    @Test func `Law 7: a slow answer follows the server's clock, and delays no other answer`()
        async throws
    {
        try await withServer { server in
            let transport = transport(server)
            let slow = transport.get("/slow")
            try await log.wait(for: .parked(path: "/slow")).get()
            let list = try await transport.get("/birds.json").get()
            clock.advance(by: .seconds(3_600))
            #expect(try await slow.get() == list)
        }
    }

    /// How the last subscriber of an answer leaves.
    enum Leaving: CaseIterable { case itself, lastOfTwo, waitingTask, timeLimit }

    @Test(arguments: Leaving.allCases)
    func `Law 26: when the last subscriber leaves, the request ends at the server`(
        _ leaving: Leaving
    )
        async throws
    {
        try await withServer { server in
            let slow = transport(server).get("/slow")
            let others = leaving == .lastOfTwo ? [slow.map(\.count), slow.map(\.count)] : []
            let task = leaving == .waitingTask ? Task { try await slow.getOrCancel() } : nil
            let limited = leaving == .timeLimit ? slow.timeout(after: .seconds(10), on: clock) : nil
            try await log.wait(for: .parked(path: "/slow")).get()
            switch leaving {
            case .itself: slow.cancel()
            case .lastOfTwo: for other in others { other.cancel() }
            case .waitingTask: task?.cancel()
            case .timeLimit: clock.advance(by: .seconds(10))
            }
            try await log.wait(for: .left(path: "/slow")).get()
            await #expect(throws: CancellationError.self) { try await slow.get() }
            #expect(clock.delayedCount == 0)
            if let limited {
                await #expect(throws: AsyncError.timedOut(after: .seconds(10))) {
                    try await limited.get()
                }
            }
        }
        #expect(log.events == [.parked(path: "/slow"), .left(path: "/slow")])
    }

    @Test func `Law 26: when one of two subscribers leaves, the request continues`() async throws {
        try await withServer { server in
            let transport = transport(server)
            let slow = transport.get("/slow")
            let (one, other) = (slow.map(\.count), slow.map(\.count))
            try await log.wait(for: .parked(path: "/slow")).get()
            #expect(one.cancel())
            let list = try await transport.get("/birds.json").get()
            clock.advance(by: .seconds(3_600))
            #expect(try await other.get() == list.count)
        }
        #expect(log.count(of: .left(path: "/slow")) == 0)
    }

    @Test func `A busy server is asked three times`() async throws {
        try await withServer { server in
            let persistent = PersistentTransport(
                base: transport(server), context: GlobalContext(), backoff: .none)
            await #expect(throws: BirdError.status(503, path: "/busy")) {
                try await persistent.get("/busy").get()
            }
        }
        #expect(log.count(of: .answered(path: "/busy", status: 503)) == 3)
    }

    @Test func `Stopping ends waiting and silent connections, and leaves no delay pending`()
        async throws
    {
        try await withServer { server in
            let silent = try await BlockingContext().run { try Socket.connected(to: server.port) }
            defer { silent.free() }
            let slow = transport(server).get("/slow")
            try await log.wait(for: .parked(path: "/slow")).get()
            await server.stop()
            #expect(clock.delayedCount == 0)
            await #expect(throws: (any Error).self) { try await slow.get() }
            #expect(try await BlockingContext().run { try silent.receiveSome() } == [])
        }
    }

    @Test func `A connection above the limit is turned away`() async throws {
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
    func `A request that the server does not understand is answered with a status`(
        line: String, status: Int
    )
        async throws
    {
        try await withServer { server in
            let answer = try await BlockingContext().run {
                try Self.conversation("\(line)\r\n\r\n", with: server)
            }
            #expect(answer.hasPrefix("HTTP/1.1 \(status) "))
        }
    }

    /// Sends `text` to the server and returns the whole answer. It blocks its thread.
    private static func conversation(_ text: String, with server: BirdServer) throws(SystemError)
        -> String
    {
        let socket = try Socket.connected(to: server.port)
        defer { socket.free() }
        try socket.sendAll(text.utf8)
        var answer: [UInt8] = []
        while case let more = try socket.receiveSome(), !more.isEmpty { answer += more }
        return String(decoding: answer, as: UTF8.self)
    }
}
