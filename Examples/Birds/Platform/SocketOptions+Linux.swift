#if os(Linux) || os(Android)
import Foundation

/// What sockets want to be told in different words on each system.
enum SocketOptions {
    static let stream = Int32(SOCK_STREAM.rawValue)

    /// Sending to one who has gone is an error, not a signal that ends the program.
    static let sending = Int32(MSG_NOSIGNAL)

    static func prepare(_ descriptor: Int32) {}

    /// The address of this machine as seen by itself. Port 0 is any that is free.
    static func loopback(port: UInt16) -> sockaddr_in {
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = port.bigEndian
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        return address
    }
}
#endif
