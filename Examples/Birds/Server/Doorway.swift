import Foundation

/// Where clients come in: a listening socket, and a way to tell who waits there to go home.
struct Doorway: Sendable {
    private let socket: Socket
    private let patience: Duration
    private let closing = Pipe()

    let port: UInt16

    /// Opens it on a port of the system's choice. Clients may be silent for as long as `patience`.
    init(patience: Duration) throws(SystemError) {
        self.patience = patience
        socket = try Socket.listening()
        port = socket.port
    }

    /// Waits for the next client; nil when the doorway is to be closed. It blocks its thread.
    func next() throws(SystemError) -> Socket? {
        let descriptors = [socket.descriptor, closing.fileHandleForReading.fileDescriptor]
        while true {
            var polled = descriptors.map { pollfd(fd: $0, events: Int16(POLLIN), revents: 0) }
            // Unsafe in name only: the array is there while the call uses it.
            try SystemError.check("poll") { unsafe poll(&polled, nfds_t(polled.count), -1) }
            if polled[1].revents != 0 { return nil }
            if let client = try socket.acceptNext(patience: patience) { return client }
        }
    }

    /// Tells who waits that it is to be closed. Only once.
    func beginClosing() { try? closing.fileHandleForWriting.close() }

    /// Closes it, when nobody waits there any more.
    func close() { socket.free() }
}
