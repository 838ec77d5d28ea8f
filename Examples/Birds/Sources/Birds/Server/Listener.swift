import Foundation

/// Accepts clients: a listening socket, and a pipe that ends the wait for the next client.
struct Listener: Sendable {
    private let socket: Socket
    private let patience: Duration
    private let closing = Pipe()

    let port: UInt16

    /// Listens on a port of the system's choice. A client may be silent for as long as `patience`.
    init(patience: Duration) throws(SystemError) {
        self.patience = patience
        socket = try Socket.listening()
        port = socket.port
    }

    /// Blocks until a client connects. Returns nil after `beginClosing`.
    func next() throws(SystemError) -> Socket? {
        let descriptors = [socket.descriptor, closing.fileHandleForReading.fileDescriptor]
        while true {
            var polled = descriptors.map { pollfd(fd: $0, events: Int16(POLLIN), revents: 0) }
            // Unsafe in name only: the array outlives the call.
            try SystemError.check("poll") { unsafe poll(&polled, nfds_t(polled.count), -1) }
            if polled[1].revents != 0 { return nil }
            if let client = try socket.acceptNext(patience: patience) { return client }
        }
    }

    /// Ends the wait in `next`. Call it once.
    func beginClosing() { try? closing.fileHandleForWriting.close() }

    /// Closes the socket. Call it when no thread waits in `next`.
    func close() { socket.free() }
}
