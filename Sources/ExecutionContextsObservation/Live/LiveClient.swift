internal import ExecutionContexts

/// One connection of a server.
///
/// | state | next | by |
/// |---|---|---|
/// | reading | answering | the request is complete or wrong |
/// | reading | watching | the request is for the events |
/// | answering | draining | the answer is sent |
/// | draining | over | the client has left |
/// | any | over | the client left, an error, or a deadline |
///
/// Memory holds a request of limited size, and one message: events that the client has not received
/// stay in the recorder, or are overwritten there.
final class LiveClient {
    let socket: LiveSocket
    private var state = State.reading
    private var request: [UInt8] = []
    private var output: ArraySlice<UInt8> = []
    private var cursor = LiveFeed()
    /// The time limit for a request, and for a client to receive bytes.
    private let patience: Duration
    /// When the client is dropped if it receives and sends nothing.
    private(set) var deadline: ContextInstant

    /// Whether the client will send no more.
    private(set) var hasEnded = false

    private enum State { case reading, answering, draining, watching, over }

    init(_ socket: LiveSocket, _ now: ContextInstant, _ patience: Duration) {
        self.socket = socket
        self.patience = patience
        deadline = now.advanced(by: patience)
    }

    var isWatching: Bool { state == .watching }

    var hasOutput: Bool { !output.isEmpty }

    func isOver(_ now: ContextInstant) -> Bool {
        state == .over || (deadline <= now && (state != .watching || hasOutput))
    }

    /// Proceeds as far as possible without waiting.
    func advance(_ now: ContextInstant, _ routes: LiveRoutes) {
        receive(now, routes)
        flush(now)
    }

    private func receive(_ now: ContextInstant, _ routes: LiveRoutes) {
        var buffer = [UInt8](repeating: 0, count: 2_048)
        // A client that sends endlessly must not delay the others.
        for _ in 0..<8 where state != .over && !hasEnded {
            switch socket.receive(&buffer) {
            case .none: return
            case .end:
                hasEnded = true
                // A client that sends no more may still receive its answer.
                if state != .answering { state = .over }
                return
            case .bytes(let bytes):
                // Bytes after the request are ignored.
                guard state == .reading else { continue }
                request += bytes
                read(now, routes)
            }
        }
    }

    private func read(_ now: ContextInstant, _ routes: LiveRoutes) {
        switch LiveRequest(request) {
        case .incomplete: return
        case .refused(let status): answer(status.answer, now)
        case .get(let path, let host):
            switch routes.answer(path: path, host: host) {
            case .refusal(let status): answer(status.answer, now)
            case .page: answer(routes.page, now)
            case .events:
                answer(LiveStatus.ok.head("text/event-stream"), now)
                state = .watching
            }
        }
    }

    private func answer(_ bytes: [UInt8], _ now: ContextInstant) {
        request = []
        output = bytes[...]
        state = .answering
        deadline = now.advanced(by: patience)
    }

    private func flush(_ now: ContextInstant) {
        while !output.isEmpty, state != .over {
            guard let count = socket.send(output) else {
                state = .over
                return
            }
            guard count > 0 else { return }
            output = output.dropFirst(count)
            deadline = now.advanced(by: patience)
        }
        guard output.isEmpty, state == .answering else { return }
        // Closed at once, unread bytes of the client would make the system discard the answer.
        state = hasEnded ? .over : .draining
        socket.endSending()
    }

    /// Sends the next events, once the client has received the last ones.
    func feed(from recorder: Recorder, _ figures: [String: Int], _ now: ContextInstant) {
        // Several messages, so that a lagging client can catch up.
        for _ in 0..<16 where output.isEmpty && state == .watching {
            let (message, isLast) = cursor.next(from: recorder, figures, now)
            output = message[...]
            deadline = now.advanced(by: patience)
            flush(now)
            if isLast { return }
        }
    }
}
