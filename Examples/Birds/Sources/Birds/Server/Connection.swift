import ExecutionContexts
import Foundation

/// A connection to one client. Releasing it closes its socket.
final class Connection: Sendable {
    private let socket: Socket
    private let presence: DispatchGroup
    /// The delay before a late answer.
    private let delay = LockedResource<DelayedWork?>(nil, lockedBy: .section)

    /// `presence` counts the connection until it is released.
    init(_ socket: Socket, countedIn presence: DispatchGroup) {
        self.socket = socket
        self.presence = presence
        presence.enter()
    }

    deinit {
        socket.free()
        presence.leave()
    }

    /// Blocks until a request arrives. Returns nil if it is malformed.
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

    /// Sends at most `limit` bytes of a response. Blocks until they are sent.
    func send(_ response: HTTPResponse, atMost limit: Int = .max) throws(SystemError) {
        try socket.sendAll(response.bytes.prefix(limit))
    }

    /// Stores the delay before the answer, so that `breakOff` cancels it.
    func wait(for delay: DelayedWork) { self.delay.mutate { $0 = delay } }

    /// Blocks until either side disconnects, or the client sends more than its request.
    func waitForEnd() { socket.waitUntilReadable() }

    /// Disconnects, and cancels a late answer.
    func breakOff() {
        // Not inside the closure: cancelling releases what the delay has captured, which may be the
        // last reference to this connection. And first: a thread that is woken by the shutdown then
        // finds the delay cancelled, so it does not report a client that left.
        delay.read { $0 }?.cancel()
        socket.hangUp()
    }
}
