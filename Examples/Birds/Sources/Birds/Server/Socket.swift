import Foundation

/// A system socket on the loopback address. Its creator must call `free`.
struct Socket: Sendable {
    let descriptor: Int32

    /// A socket that listens on a port of the system's choice.
    static func listening() throws(SystemError) -> Socket {
        let socket = try Socket()
        do {
            try SystemError.check("bind") {
                // Unsafe in name only: the address outlives the call.
                unsafe withLoopback(port: 0) { unsafe bind(socket.descriptor, $0, $1) }
            }
            try SystemError.check("listen") { listen(socket.descriptor, 64) }
            // If a client connects and leaves at once, `acceptNext` must not block.
            try SystemError.check("fcntl") { fcntl(socket.descriptor, F_SETFL, O_NONBLOCK) }
        } catch {
            socket.free()
            throw error
        }
        return socket
    }

    /// A socket connected to a port of this machine.
    static func connected(to port: UInt16) throws(SystemError) -> Socket {
        let socket = try Socket()
        do {
            try SystemError.check("connect") {
                // Unsafe in name only: the address outlives the call.
                unsafe withLoopback(port: port) { unsafe connect(socket.descriptor, $0, $1) }
            }
        } catch {
            socket.free()
            throw error
        }
        return socket
    }

    /// The next client, or nil if there is none. Its calls fail if they block for `patience`.
    func acceptNext(patience: Duration) throws(SystemError) -> Socket? {
        do {
            let descriptor = try SystemError.check("accept") { accept(self.descriptor, nil, nil) }
            return Socket(accepted: descriptor, patience: patience)
        } catch {
            // EAGAIN: there is no client. ECONNABORTED: the client has left already.
            if [EAGAIN, EWOULDBLOCK, ECONNABORTED].contains(error.code) { return nil }
            throw error
        }
    }

    /// Blocks until the other side sends bytes. Returns none after its last byte.
    func receiveSome() throws(SystemError) -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: 4_096)
        // Unsafe in name only: the array outlives the call.
        let count = try SystemError.check("recv") {
            unsafe recv(descriptor, &bytes, bytes.count, 0)
        }
        return Array(bytes.prefix(count))
    }

    /// Blocks until the other side sends bytes, or either side disconnects.
    func waitUntilReadable() {
        var polled = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
        // Unsafe in name only: the value outlives the call. An error ends the wait, too.
        _ = try? SystemError.check("poll") { unsafe poll(&polled, 1, -1) }
    }

    func sendAll(_ data: some Collection<UInt8>) throws(SystemError) {
        var rest = Array(data)[...]
        while !rest.isEmpty {
            let sent = try SystemError.check("send") {
                // Unsafe in name only: the bytes outlive the call.
                unsafe rest.withUnsafeBytes {
                    unsafe send(descriptor, $0.baseAddress, $0.count, SocketOptions.sending)
                }
            }
            rest = rest.dropFirst(sent)
        }
    }

    /// Shuts the connection down. Blocked calls on both sides return at once.
    func hangUp() { _ = shutdown(descriptor, Int32(SHUT_RDWR)) }

    /// Closes the descriptor. The socket must not be used afterwards.
    func free() { _ = close(descriptor) }

    /// The port that it listens on.
    var port: UInt16 {
        var address = SocketOptions.loopback(port: 0)
        var size = socklen_t(MemoryLayout<sockaddr_in>.size)
        // Unsafe in name only: each kind of address begins like `sockaddr`, and its size is passed.
        _ = unsafe withUnsafeMutablePointer(to: &address) {
            unsafe $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                unsafe getsockname(descriptor, $0, &size)
            }
        }
        return UInt16(bigEndian: address.sin_port)
    }
}

// MARK: - Creating sockets

extension Socket {
    private init() throws(SystemError) {
        descriptor = try SystemError.check("socket") { socket(AF_INET, SocketOptions.stream, 0) }
        SocketOptions.prepare(descriptor)
    }

    private init(accepted descriptor: Int32, patience: Duration) {
        self.init(descriptor: descriptor)
        SocketOptions.prepare(descriptor)
        // On some systems it inherits the non-blocking mode of the listening socket.
        _ = fcntl(descriptor, F_SETFL, 0)
        let (seconds, attoseconds) = patience.components
        var limit = timeval(tv_sec: Int(seconds), tv_usec: .init(attoseconds / 1_000_000_000_000))
        let size = socklen_t(MemoryLayout<timeval>.size)
        for option in [SO_RCVTIMEO, SO_SNDTIMEO] {
            // Unsafe in name only: the value outlives the call.
            _ = unsafe setsockopt(descriptor, SOL_SOCKET, option, &limit, size)
        }
    }

    /// Calls `body` with the loopback address as a `sockaddr`.
    private static func withLoopback(
        port: UInt16, _ body: (UnsafePointer<sockaddr>, socklen_t) -> Int32
    ) -> Int32 {
        var address = SocketOptions.loopback(port: port)
        // Unsafe in name only: each kind of address begins like `sockaddr`, and its size is passed.
        return unsafe withUnsafePointer(to: &address) {
            unsafe $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                unsafe body($0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
    }
}
