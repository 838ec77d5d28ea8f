import Foundation

/// A socket of the system on the loopback address. Whoever makes one frees it.
struct Socket: Sendable {
    let descriptor: Int32

    /// A socket that listens on a port of the system's choice.
    static func listening() throws(SystemError) -> Socket {
        let socket = try Socket()
        do {
            try SystemError.check("bind") {
                // Unsafe in name only: the address is there while the call reads it.
                unsafe withLoopback(port: 0) { unsafe bind(socket.descriptor, $0, $1) }
            }
            try SystemError.check("listen") { listen(socket.descriptor, 64) }
            // One who comes and goes at once must not leave `acceptNext` waiting for the next.
            try SystemError.check("fcntl") { fcntl(socket.descriptor, F_SETFL, O_NONBLOCK) }
        } catch {
            socket.free()
            throw error
        }
        return socket
    }

    /// A socket that is connected to a port of this machine.
    static func connected(to port: UInt16) throws(SystemError) -> Socket {
        let socket = try Socket()
        do {
            try SystemError.check("connect") {
                // Unsafe in name only: the address is there while the call reads it.
                unsafe withLoopback(port: port) { unsafe connect(socket.descriptor, $0, $1) }
            }
        } catch {
            socket.free()
            throw error
        }
        return socket
    }

    /// Who has come, or nil if there is nobody. The new socket waits for one who is silent, but only so long.
    func acceptNext(patience: Duration) throws(SystemError) -> Socket? {
        do {
            let descriptor = try SystemError.check("accept") { accept(self.descriptor, nil, nil) }
            return Socket(accepted: descriptor, patience: patience)
        } catch {
            // EAGAIN is nobody; ECONNABORTED is one who has gone already.
            if [EAGAIN, EWOULDBLOCK, ECONNABORTED].contains(error.code) { return nil }
            throw error
        }
    }

    /// Some of what the other side has sent; empty when it has sent all.
    func receiveSome() throws(SystemError) -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: 4_096)
        // Unsafe in name only: the array is there while the call fills it.
        let count = try SystemError.check("recv") { unsafe recv(descriptor, &bytes, bytes.count, 0) }
        return Array(bytes.prefix(count))
    }

    /// Returns when the other side has sent something, or when either has hung up.
    func waitForNews() {
        var polled = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
        // Unsafe in name only: the value is there while the call uses it. A call that fails is news, too.
        _ = try? SystemError.check("poll") { unsafe poll(&polled, 1, -1) }
    }

    func sendAll(_ data: some Collection<UInt8>) throws(SystemError) {
        var rest = Array(data)[...]
        while !rest.isEmpty {
            let sent = try SystemError.check("send") {
                // Unsafe in name only: the bytes are there while the call reads them.
                unsafe rest.withUnsafeBytes {
                    unsafe send(descriptor, $0.baseAddress, $0.count, SocketOptions.sending)
                }
            }
            rest = rest.dropFirst(sent)
        }
    }

    /// Ends the conversation: who waits to receive or to send is told at once, on both sides.
    func hangUp() { _ = shutdown(descriptor, Int32(SHUT_RDWR)) }

    /// Gives the descriptor back. Nobody may use the socket after that.
    func free() { _ = close(descriptor) }

    /// The port that it listens on.
    var port: UInt16 {
        var address = SocketOptions.loopback(port: 0)
        var size = socklen_t(MemoryLayout<sockaddr_in>.size)
        // Unsafe in name only: every kind of address begins like `sockaddr`, and the size says how much there is.
        _ = unsafe withUnsafeMutablePointer(to: &address) {
            unsafe $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                unsafe getsockname(descriptor, $0, &size)
            }
        }
        return UInt16(bigEndian: address.sin_port)
    }
}

// How they are made.
extension Socket {
    private init() throws(SystemError) {
        descriptor = try SystemError.check("socket") { socket(AF_INET, SocketOptions.stream, 0) }
        SocketOptions.prepare(descriptor)
    }

    private init(accepted descriptor: Int32, patience: Duration) {
        self.init(descriptor: descriptor)
        SocketOptions.prepare(descriptor)
        // On some systems it is like the one that listens, which does not wait.
        _ = fcntl(descriptor, F_SETFL, 0)
        let (seconds, attoseconds) = patience.components
        var limit = timeval(tv_sec: Int(seconds), tv_usec: .init(attoseconds / 1_000_000_000_000))
        let size = socklen_t(MemoryLayout<timeval>.size)
        for option in [SO_RCVTIMEO, SO_SNDTIMEO] {
            // Unsafe in name only: the value is there while the call reads it.
            _ = unsafe setsockopt(descriptor, SOL_SOCKET, option, &limit, size)
        }
    }

    /// Calls `body` with the loopback address as the system wants to see it.
    private static func withLoopback(
        port: UInt16, _ body: (UnsafePointer<sockaddr>, socklen_t) -> Int32
    ) -> Int32 {
        var address = SocketOptions.loopback(port: port)
        // Unsafe in name only: every kind of address begins like `sockaddr`, and the size says how much there is.
        return unsafe withUnsafePointer(to: &address) {
            unsafe $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                unsafe body($0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
    }
}
