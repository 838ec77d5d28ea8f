import ExecutionContexts
import Foundation

/// A small HTTP server on this machine's loopback address, on a port of the system's choice.
///
/// One thread lets clients in; a few more, of a blocking context, talk to them, and each client that must wait has one
/// that sees it leave. It serves until it is stopped, and lives as long.
final class BirdServer: Sendable {
    /// What happens at the server.
    enum Event: Hashable, Sendable {
        case answered(path: String, status: Int)
        case brokeOff(path: String)
        /// The answer comes later.
        case parked(path: String)
        /// The client did not wait for it.
        case left(path: String)
        /// There were too many already.
        case turnedAway
        case failed(SystemError)
    }

    private struct State: Sendable {
        var connections: [ObjectIdentifier: Connection] = [:]
        var isStopped = false
    }

    private let site: BirdSite
    private let doorway: Doorway
    private let limit: Int
    private let slowness: Duration
    private let clock: any ExecutionContext
    private let report: @Sendable (Event) -> Void
    private let talks = BlockingContext(limit: 4, name: "bird server")
    private let watches: BlockingContext
    private let state = LockedResource(State(), lockedBy: .section)
    /// Counts what is alive: who lets clients in, and the connections.
    private let presence = DispatchGroup()

    /// Starts a server.
    ///
    /// - Parameters:
    ///   - limit: how many connections there may be at a time; who comes then is turned away with a 503.
    ///   - patience: how long a client may be silent, or not listen, before it is left.
    ///   - slowness: how long a slow answer takes, in the time of `clock`.
    ///   - report: is told what happens, on the thread where it happens.
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
        watches = BlockingContext(limit: limit, name: "bird server, waiting")
        doorway = try Doorway(patience: patience)
        presence.enter()
        // The thread ends with this piece of work: nobody holds its context any longer (law 10).
        RunLoopThreadContext(name: "bird server").execute { [self] in
            letClientsIn()
            doorway.close()
            presence.leave()
        }
    }

    var url: URL {
        // A number makes no address invalid.
        URL(string: "http://127.0.0.1:\(doorway.port)")!
    }

    var port: UInt16 { doorway.port }

    /// Breaks off all connections, and returns when they are closed and nobody is let in any more.
    func stop() async {
        breakOff()
        await withCheckedContinuation { done in
            presence.notify(queue: .global()) { done.resume() }
        }
    }

    /// In a function of its own, so that no variable keeps a connection alive after it.
    private func breakOff() {
        let connections: [Connection]? = state.write { state in
            if state.isStopped { return nil }
            defer { state.connections = [:] }
            state.isStopped = true
            return Array(state.connections.values)
        }
        guard let connections else { return }
        doorway.beginClosing()
        for connection in connections { connection.breakOff() }
    }

    private func letClientsIn() {
        do {
            while let socket = try doorway.next() { letIn(Connection(socket, countedIn: presence)) }
        } catch {
            report(.failed(error))
        }
    }

    private func letIn(_ connection: Connection) {
        let hasRoom = state.write { state in
            guard !state.isStopped, state.connections.count < limit else { return false }
            state.connections[ObjectIdentifier(connection)] = connection
            return true
        }
        if hasRoom {
            talks.execute { self.talk(to: connection) }
        } else {
            report(.turnedAway)
            // As far as it gets; a few bytes do not keep this thread.
            try? connection.send(.failure(503))
        }
    }

    private func talk(to connection: Connection) {
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

    /// Lets a connection wait for its answer, which it gets unless it leaves before.
    private func park(_ connection: Connection, _ response: HTTPResponse, path: String) {
        let delay = clock.schedule(after: slowness) { [self] in
            // The clock is for telling the time; what may block its thread is done elsewhere.
            talks.execute {
                self.answer(connection, response, path: path)
                connection.breakOff()
            }
        }
        connection.wait(for: delay)
        // Who stopped the server just before did not see the delay.
        if state.read({ $0.isStopped }) { connection.breakOff() }
        report(.parked(path: path))
        watches.execute {
            connection.waitForEnd()
            // Either the answer is on its way, or there will be none: cancelling says which (law 7).
            if delay.cancel() { self.conclude(connection, .left(path: path)) }
        }
    }

    private func conclude(_ connection: Connection, _ event: Event) {
        forget(connection)
        report(event)
    }

    private func forget(_ connection: Connection) {
        // What comes out is freed here, outside the lock (law 9).
        _ = state.write { $0.connections.removeValue(forKey: ObjectIdentifier(connection)) }
    }
}
