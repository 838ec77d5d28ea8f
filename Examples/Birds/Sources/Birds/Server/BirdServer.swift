import ExecutionContexts
import Foundation

/// A small HTTP server on this machine's loopback address, on a port of the system's choice.
///
/// One thread accepts clients. A few threads of a blocking context answer them. For each client
/// that waits for a late answer, one more thread waits until it disconnects. The server stays alive
/// until it is stopped.
final class BirdServer: Sendable {
    /// What happens at the server.
    enum Event: Hashable, Sendable {
        case answered(path: String, status: Int)
        case brokeOff(path: String)
        /// The client waits for a late answer.
        case parked(path: String)
        /// The client disconnected before the late answer.
        case left(path: String)
        /// There were too many connections already.
        case turnedAway
        case failed(SystemError)
    }

    private struct State: Sendable {
        var connections: [ObjectIdentifier: Connection] = [:]
        var isStopped = false
    }

    private let site: BirdSite
    private let listener: Listener
    private let limit: Int
    private let slowness: Duration
    private let clock: any ExecutionContext
    private let report: @Sendable (Event) -> Void
    private let answering = BlockingContext(limit: 4, name: "bird server")
    private let disconnects: BlockingContext
    private let state = LockedResource(State(), lockedBy: .section)
    /// Counts what is alive: the accepting thread and the connections.
    private let presence = DispatchGroup()

    /// Starts a server.
    ///
    /// - Parameters:
    ///   - limit: the most connections at a time; further clients receive a 503.
    ///   - patience: how long a client may neither send nor receive before it is disconnected.
    ///   - slowness: how long a slow answer takes, in the time of `clock`.
    ///   - report: receives each event, on the thread where it happens.
    init(
        site: BirdSite = BirdSite(), limit: Int = 32, patience: Duration = .seconds(5),
        slowness: Duration = .milliseconds(200), clock: any ExecutionContext = GlobalContext(),
        report: @escaping @Sendable (Event) -> Void = { _ in }
    ) throws(SystemError) {
        self.site = site
        self.limit = limit
        self.slowness = slowness
        self.clock = clock
        self.report = report
        disconnects = BlockingContext(limit: limit, name: "bird server, waiting")
        listener = try Listener(patience: patience)
        presence.enter()
        // The thread ends after this job, because its context has no other reference (law 10).
        ThreadContext(name: "bird server").execute { [self] in
            acceptClients()
            listener.close()
            presence.leave()
        }
    }

    var url: URL {
        // A port number cannot make the address invalid.
        URL(string: "http://127.0.0.1:\(listener.port)")!
    }

    var port: UInt16 { listener.port }

    /// Disconnects all clients. Returns when the connections are closed and no client is accepted.
    func stop() async {
        breakOff()
        await withCheckedContinuation { done in
            presence.notify(queue: .global()) { done.resume() }
        }
    }

    /// A separate function, so that no variable keeps a connection alive afterwards.
    private func breakOff() {
        let connections: [Connection]? = state.mutate { state in
            if state.isStopped { return nil }
            defer { state.connections = [:] }
            state.isStopped = true
            return Array(state.connections.values)
        }
        guard let connections else { return }
        listener.beginClosing()
        for connection in connections { connection.breakOff() }
    }

    private func acceptClients() {
        do {
            while let socket = try listener.next() {
                admit(Connection(socket, countedIn: presence))
            }
        } catch {
            report(.failed(error))
        }
    }

    private func admit(_ connection: Connection) {
        let hasRoom = state.mutate { state in
            guard !state.isStopped, state.connections.count < limit else { return false }
            state.connections[ObjectIdentifier(connection)] = connection
            return true
        }
        if hasRoom {
            answering.execute { self.serve(connection) }
        } else {
            report(.turnedAway)
            // Errors are ignored. A few bytes do not block this thread.
            try? connection.send(.failure(503))
        }
    }

    private func serve(_ connection: Connection) {
        let request: HTTPRequest?
        do throws(SystemError) { request = try connection.receive() } catch {
            return conclude(connection, .failed(error))
        }
        guard let request else { return answer(connection, .failure(400), path: "?") }
        switch site.answer(to: request) {
        case .now(let response): answer(connection, response, path: request.path)
        case .halfOf(let response): answerHalf(connection, response, path: request.path)
        case .later(let response): park(connection, response, path: request.path)
        }
    }

    private func answer(_ connection: Connection, _ response: HTTPResponse, path: String) {
        do throws(SystemError) {
            try connection.send(response)
            conclude(connection, .answered(path: path, status: response.status))
        } catch {
            conclude(connection, .failed(error))
        }
    }

    private func answerHalf(_ connection: Connection, _ response: HTTPResponse, path: String) {
        do throws(SystemError) {
            try connection.send(response, atMost: response.bytes.count / 2)
            conclude(connection, .brokeOff(path: path))
        } catch {
            conclude(connection, .failed(error))
        }
    }

    /// Answers a connection later, unless its client disconnects before.
    private func park(_ connection: Connection, _ response: HTTPResponse, path: String) {
        let delay = clock.schedule(after: slowness) { [self] in
            // Sending may block, so it does not run on the clock's thread.
            answering.execute {
                self.answer(connection, response, path: path)
                connection.breakOff()
            }
        }
        connection.wait(for: delay)
        // A stop just before did not see the delay.
        if state.read({ $0.isStopped }) { connection.breakOff() }
        report(.parked(path: path))
        disconnects.execute {
            connection.waitForEnd()
            // `cancel` returns whether it came before the answer (law 7).
            if delay.cancel() { self.conclude(connection, .left(path: path)) }
        }
    }

    private func conclude(_ connection: Connection, _ event: Event) {
        remove(connection)
        report(event)
    }

    private func remove(_ connection: Connection) {
        // The removed connection is released here, outside the lock (law 9).
        _ = state.mutate { $0.connections.removeValue(forKey: ObjectIdentifier(connection)) }
    }
}
