internal import ExecutionContexts
internal import Foundation

/// The server of a live timeline: one thread, which polls its sockets.
///
/// 1. It waits for a socket, for the next tick, or for the deadline of a client.
/// 2. It accepts clients, reads requests and sends as much as the system accepts.
/// 3. At each tick it sends the next events to each watching client that has received all earlier
///    ones.
/// 4. A byte in the pipe stops it, and it closes everything.
final class LiveServer: @unchecked Sendable {
    // Unchecked: `clients` and `isFull` are used by the server's thread only. All else is constant.
    let address: String
    private let listener: LiveSocket
    private let bell: (reading: LiveSocket, writing: LiveSocket)
    private let routes: LiveRoutes
    private let recorder: Recorder
    /// The time between two messages to a client.
    private let tick: Duration
    private let patience: Duration
    private let counters: @Sendable () -> [String: Int]
    private var clients: [LiveClient] = []
    /// Whether the process had no descriptor left for the next client, which is retried later.
    private var isFull = false

    /// The most clients at a time. A further one replaces one that does not watch.
    static let clientLimit = 16

    private init(
        _ listener: LiveSocket, _ bell: (reading: LiveSocket, writing: LiveSocket),
        _ recorder: Recorder, title: String, tick: Duration, patience: Duration,
        counters: @escaping @Sendable () -> [String: Int]
    ) {
        self.tick = tick
        self.patience = patience
        self.listener = listener
        self.bell = bell
        self.recorder = recorder
        self.counters = counters
        routes = LiveRoutes(port: listener.port, page: Array(TimelinePage.live(title).utf8))
        address = routes.address
    }

    /// A listening server, and the end of the pipe that stops it.
    static func listening(
        to recorder: Recorder, port: UInt16 = 0, title: String = "",
        tick: Duration = .milliseconds(200), patience: Duration = .seconds(10),
        counters: @escaping @Sendable () -> [String: Int] = { [:] }
    ) throws(LiveTimeline.Failure) -> (LiveServer, LiveSocket) {
        let listener = try LiveSocket.listening(port: port)
        do {
            let bell = try LiveSocket.pipe()
            let server = LiveServer(
                listener, bell, recorder, title: title, tick: tick, patience: patience,
                counters: counters)
            return (server, bell.writing)
        } catch {
            listener.close()
            throw error
        }
    }

    /// Frees the port first: a client whose connection ends does not find it open.
    func close() {
        listener.close()
        for client in clients { client.socket.close() }
        clients = []
        for socket in [bell.reading, bell.writing] { socket.close() }
    }

    func run() {
        var nextTick = SystemTime.shared.now
        while wait(until: deadline(nextTick)) {
            let now = SystemTime.shared.now
            admitAll(now)
            for client in clients { client.advance(now, routes) }
            if nextTick <= now, clients.contains(where: \.isWatching) {
                nextTick = now.advanced(by: tick)
                feed(now)
            }
            clients.removeAll { client in
                guard client.isOver(now) else { return false }
                client.socket.close()
                return true
            }
        }
        close()
    }

    // MARK: - Clients

    private func admitAll(_ now: ContextInstant) {
        isFull = false
        // Many new clients must not delay the others.
        for _ in 0..<Self.clientLimit {
            switch listener.acceptNext() {
            case .client(let socket): admit(socket, now)
            case .none: return
            case .failed:
                isFull = true
                return
            }
        }
    }

    private func admit(_ socket: LiveSocket, _ now: ContextInstant) {
        if clients.count >= Self.clientLimit {
            guard let idle = clients.firstIndex(where: { !$0.isWatching }) else {
                _ = socket.send(LiveStatus.tooMany.answer[...])
                return socket.close()
            }
            clients.remove(at: idle).socket.close()
        }
        clients.append(LiveClient(socket, now, patience))
    }

    private func feed(_ now: ContextInstant) {
        let watching = clients.filter(\.isWatching)
        var figures = LiveFeed.poolFigures
        // The user's code: no lock is held here.
        figures.merge(counters()) { _, theirs in theirs }
        for client in watching { client.feed(from: recorder, figures, now) }
    }

    // MARK: - Waiting

    private func deadline(_ nextTick: ContextInstant) -> ContextInstant? {
        if clients.contains(where: \.isWatching) { return nextTick }
        if isFull { return SystemTime.shared.now.advanced(by: tick) }
        return clients.map(\.deadline).min()
    }

    /// Waits for a socket or the deadline; false once the server must stop.
    private func wait(until deadline: ContextInstant?) -> Bool {
        func asked(_ socket: LiveSocket, _ isReading: Bool, _ isWriting: Bool) -> pollfd {
            let events = (isReading ? POLLIN : 0) | (isWriting ? POLLOUT : 0)
            return pollfd(fd: socket.descriptor, events: Int16(events), revents: 0)
        }
        var polled = [asked(bell.reading, true, false), asked(listener, !isFull, false)]
        polled += clients.map { asked($0.socket, !$0.hasEnded, $0.hasOutput) }
        var milliseconds: Int32 = -1
        if let deadline {
            let left = SystemTime.shared.now.duration(to: deadline).nanoseconds
            milliseconds = Int32(clamping: max(0, left) / 1_000_000 + 1)
        }
        // Unsafe in name only: the array outlives the call.
        _ = unsafe poll(&polled, nfds_t(polled.count), milliseconds)
        return polled[0].revents == 0
    }
}
