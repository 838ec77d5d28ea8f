#if canImport(Darwin)
import Darwin

/// What sockets want to be told in different words on each system.
enum SocketOptions {
    static let stream = SOCK_STREAM

    static let sending: Int32 = 0

    /// Sending to one who has gone is an error, not a signal that ends the program.
    static func prepare(_ descriptor: Int32) {
        var yes: Int32 = 1
        // Unsafe in name only: the value is there while the call uses it.
        _ = unsafe setsockopt(
            descriptor, SOL_SOCKET, SO_NOSIGPIPE, &yes, socklen_t(MemoryLayout<Int32>.size))
    }

    /// The address of this machine as seen by itself. Port 0 is any that is free.
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
