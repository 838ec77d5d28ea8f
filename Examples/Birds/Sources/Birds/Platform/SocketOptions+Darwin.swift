#if canImport(Darwin)
import Darwin

/// The options of sockets that differ among systems.
enum SocketOptions {
    static let stream = SOCK_STREAM

    static let sending: Int32 = 0

    /// Makes sending to a closed socket an error, not a signal that ends the program.
    static func prepare(_ descriptor: Int32) {
        var yes: Int32 = 1
        // Unsafe in name only: the value outlives the call.
        _ = unsafe setsockopt(
            descriptor, SOL_SOCKET, SO_NOSIGPIPE, &yes, socklen_t(MemoryLayout<Int32>.size))
    }

    /// The loopback address. Port 0 lets the system choose a free port.
    static func loopback(port: UInt16) -> sockaddr_in {
        var address = sockaddr_in()
        address.sin_len = UInt8(MemoryLayout<sockaddr_in>.size)
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = port.bigEndian
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        return address
    }
}
#endif
