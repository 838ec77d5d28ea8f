import ExecutionContexts
import Foundation

/// A conversation with one client. It ends, and the socket is closed, when nobody holds it any more.
final class Connection: Sendable {
    private let socket: Socket
    private let presence: DispatchGroup
    /// What it waits for, if it is to answer later.
    private let pause = LockedResource<DelayedWork?>(nil, lockedBy: .section)

    /// It is counted in `presence` as long as it lives.
    init(_ socket: Socket, countedIn presence: DispatchGroup) {
        self.socket = socket
        self.presence = presence
        presence.enter()
    }

    deinit {
        socket.free()
        presence.leave()
    }

    /// Waits for a request; nil if what comes is none. It blocks its thread.
    func receive() throws(SystemError) -> HTTPRequest? {
        var head: [UInt8] = []
        while head.count < HTTPRequest.headLimit {
            let more = try socket.receiveSome()
            if more.isEmpty { return nil }
            head += more
            if head.firstRange(of: HTTPRequest.headEnd) != nil { return HTTPRequest(head: head) }
        }
        return nil
    }

    /// Sends so many bytes of a response, or all of it. It blocks its thread.
    func send(_ response: HTTPResponse, atMost limit: Int = .max) throws(SystemError) {
        try socket.sendAll(response.bytes.prefix(limit))
    }

    /// Notes what it waits for, so that breaking off ends that, too.
    func wait(for delay: DelayedWork) { pause.write { $0 = delay } }

    /// Returns when either side has ended the conversation, or the client says more than it should. It blocks its thread.
    func waitForEnd() { socket.waitForNews() }

    /// Ends the conversation, whatever it waits for.
    func breakOff() {
        // Not inside the closure: what a cancelled delay has captured is freed, and may be the last to hold this.
        // And first: who is woken by the end finds that it is not the client who has ended it.
        pause.read { $0 }?.cancel()
        socket.hangUp()
    }
}
