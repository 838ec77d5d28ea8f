#if os(Linux) || os(Android)
import Foundation

/// The options of sockets that differ among systems.
enum SocketOptions {
    static let stream = Int32(SOCK_STREAM.rawValue)

    /// Makes sending to a closed socket an error, not a signal that ends the program.
    static let sending = Int32(MSG_NOSIGNAL)

    static func prepare(_ descriptor: Int32) {}

    /// The loopback address. Port 0 lets the system choose a free port.
    static func loopback(port: UInt16) -> sockaddr_in {
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = port.bigEndian
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        return address
    }
}
#endif
