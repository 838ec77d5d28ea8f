import ExecutionContextsTesting

/// Faults that packages for Swift had and mended, rebuilt in a few lines.
extension SeededBug {
    static let published: [SeededBug] = [
        cancelBeforeWait, closedConnection, readAfterClear, emptyAwaiting,
    ]

    private actor Channel {
        private var waiters: [Int: CheckedContinuation<Int?, Never>] = [:]
        private var cancelled: Set<Int> = []

        nonisolated func next(_ id: Int, isMended: Bool) async -> Int? {
            await withTaskCancellationHandler {
                await wait(id)
            } onCancel: {
                Task { await cancel(id, isMended: isMended) }
            }
        }

        private func wait(_ id: Int) async -> Int? {
            if cancelled.contains(id) { return nil }
            return await withCheckedContinuation { waiters[id] = $0 }
        }

        private func cancel(_ id: Int, isMended: Bool) {
            if let waiter = waiters.removeValue(forKey: id) {
                waiter.resume(returning: nil)
            } else if isMended {
                cancelled.insert(id)
            }
        }
    }

    /// The cancel arrives before the continuation, finds nothing, and the task waits forever.
    ///
    /// As in a channel of Swift Async Algorithms:
    /// https://github.com/apple/swift-async-algorithms/pull/80
    static let cancelBeforeWait = plain("channel cancelled before it waits", .lostWakeUp, depth: 2)
    { isMended in
        let channel = Channel()
        let reader = Task(name: "reader") { await channel.next(1, isMended: isMended) }
        await request()
        reader.cancel()
        _ = await reader.value
    }

    private struct ConnectionClosed: Error {}

    private actor Connection {
        private var isOpen = true

        func close() { isOpen = false }

        func execute(isMended: Bool) throws {
            if isMended && !isOpen { throw ConnectionClosed() }
            try require(isOpen, "the state machine gets a request on a closed connection")
        }
    }

    private actor ConnectionPool {
        private var idle: [Connection] = [Connection()]

        func lease() -> Connection { idle.popLast() ?? Connection() }

        func remoteDidClose(_ connection: Connection) { idle.removeAll { $0 === connection } }

        /// Closes the idle connection, as its server may do at any time.
        func closeIdle() async {
            guard let connection = idle.first else { return }
            await connection.close()
            remoteDidClose(connection)
        }
    }

    /// A connection is closed between its lease and the request.
    ///
    /// As between the connection pool and the connections of AsyncHTTPClient:
    /// https://github.com/swift-server/async-http-client/pull/546
    static let closedConnection = plain("request on a closed connection", depth: 1) { isMended in
        let pool = ConnectionPool()
        async let closing: Void = pool.closeIdle()
        do {
            try await pool.lease().execute(isMended: isMended)
        } catch is ConnectionClosed {
            try await pool.lease().execute(isMended: isMended)
        }
        await closing
    }

    private actor Requests {
        private var reasons: [Int: String] = [:]
        private(set) var replies: [String] = []

        func cancel(_ id: Int, _ reason: String) { reasons[id] = reason }
        func end(_ id: Int) { reasons[id] = nil }
        func reply(_ id: Int) { replies.append(reasons[id] ?? "unknown error") }
    }

    /// A separate task reads why a request was cancelled, after its end has cleared the reason.
    ///
    /// As in the message handler of Swift Tools Protocols:
    /// https://github.com/swiftlang/swift-tools-protocols/pull/45
    static let readAfterClear = plain("reason read after it is cleared", depth: 3) { isMended in
        let requests = Requests()
        await requests.cancel(1, "the server stops")
        let reply = Task(name: "reply") { await requests.reply(1) }
        if isMended { await reply.value } else { await later() }
        await requests.end(1)
        await reply.value
        try await require(requests.replies == ["the server stops"], "the reason is lost")
    }

    private actor Receivers {
        private typealias Waiters = [(id: Int, continuation: CheckedContinuation<Int?, Never>)]
        private enum State {
            case idle
            case awaiting(Waiters)
        }
        private var state = State.idle

        private var waiters: Waiters {
            if case .awaiting(let waiters) = state { waiters } else { [] }
        }

        nonisolated func next(_ id: Int, isMended: Bool) async -> Int? {
            await withTaskCancellationHandler {
                await wait(id)
            } onCancel: {
                Task { await cancel(id, isMended: isMended) }
            }
        }

        private func wait(_ id: Int) async -> Int? {
            if Task.isCancelled { return nil }
            return await withCheckedContinuation { state = .awaiting(waiters + [(id, $0)]) }
        }

        private func cancel(_ id: Int, isMended: Bool) {
            let (mine, others) = (waiters.filter { $0.id == id }, waiters.filter { $0.id != id })
            guard !mine.isEmpty else { return }
            state = isMended && others.isEmpty ? .idle : .awaiting(others)
            for waiter in mine { waiter.continuation.resume(returning: nil) }
        }

        func send(_ element: Int) throws {
            guard case .awaiting(let waiters) = state else { return }
            try require(!waiters.isEmpty, "the first of no receivers is removed")
            state = waiters.count == 1 ? .idle : .awaiting(Array(waiters.dropFirst()))
            waiters[0].continuation.resume(returning: element)
        }
    }

    /// A cancel removes the last receiver, and the channel still counts on one.
    ///
    /// As in a channel of Swift Async Algorithms:
    /// https://github.com/apple/swift-async-algorithms/issues/142
    static let emptyAwaiting = plain("channel that awaits no receiver", depth: 2) { isMended in
        let receivers = Receivers()
        let reader = Task(name: "reader") { await receivers.next(1, isMended: isMended) }
        await request()
        reader.cancel()
        try await receivers.send(7)
        _ = await reader.value
    }
}
