internal import Foundation

/// A closure that is handed to a new thread.
final class ThreadBody: Sendable {
    let run: @Sendable () -> Void

    init(_ run: @escaping @Sendable () -> Void) { self.run = run }
}

/// A non-blocking descriptor: a socket on the loopback address, or an end of a pipe.
///
/// Its owner must call `close`, once.
struct LiveSocket: Sendable {
    let descriptor: Int32

    /// A socket that listens on `port` of the loopback address; 0 lets the system choose.
    static func listening(port: UInt16) throws(LiveTimeline.Failure) -> LiveSocket {
        let socket = LiveSocket(
            descriptor: try check("socket", Foundation.socket(AF_INET, SystemCalls.stream, 0)))
        do {
            socket.prepare()
            var yes: Int32 = 1
            // Allows reusing a recently used port at once. Unsafe in name only, like the calls
            // below: what a pointer points to outlives the call.
            _ = unsafe setsockopt(
                socket.descriptor, SOL_SOCKET, SO_REUSEADDR, &yes,
                socklen_t(MemoryLayout<Int32>.size))
            var address = SystemCalls.loopback(port: port)
            let bound = unsafe withUnsafePointer(to: &address) {
                unsafe $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                    unsafe bind(
                        socket.descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
                }
            }
            _ = try check("bind", bound)
            _ = try check("listen", listen(socket.descriptor, 16))
        } catch {
            socket.close()
            throw error
        }
        return socket
    }

    /// The two ends of a pipe.
    static func pipe() throws(LiveTimeline.Failure) -> (reading: LiveSocket, writing: LiveSocket) {
        var ends: [Int32] = [-1, -1]
        _ = try check("pipe", unsafe Foundation.pipe(&ends))
        let (reading, writing) = (LiveSocket(descriptor: ends[0]), LiveSocket(descriptor: ends[1]))
        reading.prepare()
        writing.prepare()
        return (reading, writing)
    }

    enum Accepted {
        case client(LiveSocket)
        /// There is none now.
        case none
        /// The process has no descriptor left for it.
        case failed
    }

    func acceptNext() -> Accepted {
        let accepted = accept(descriptor, nil, nil)
        guard accepted >= 0 else {
            return Self.isForNow || errno == ECONNABORTED ? .none : .failed
        }
        let socket = LiveSocket(descriptor: accepted)
        socket.prepare()
        return .client(socket)
    }

    enum Received {
        case bytes(ArraySlice<UInt8>)
        /// There is none now.
        case none
        /// The other side has left.
        case end
    }

    func receive(_ buffer: inout [UInt8]) -> Received {
        let size = buffer.count
        let count = unsafe recv(descriptor, &buffer, size, 0)
        if count > 0 { return .bytes(buffer[..<count]) }
        return count < 0 && Self.isForNow ? .none : .end
    }

    /// Sends as much as the system accepts now, and returns how much; nil after an error.
    func send(_ bytes: ArraySlice<UInt8>) -> Int? {
        let count = unsafe bytes.withUnsafeBytes {
            unsafe Foundation.send(descriptor, $0.baseAddress, $0.count, SystemCalls.sending)
        }
        if count >= 0 { return count }
        return Self.isForNow ? 0 : nil
    }

    /// Writes one byte to a pipe.
    func writeByte() {
        var byte: UInt8 = 0
        _ = unsafe write(descriptor, &byte, 1)
    }

    /// Signals the end of the data to the other side.
    func endSending() { _ = shutdown(descriptor, Int32(SHUT_WR)) }

    func close() { _ = Foundation.close(descriptor) }

    /// The port that it listens on.
    var port: UInt16 {
        var address = SystemCalls.loopback(port: 0)
        var size = socklen_t(MemoryLayout<sockaddr_in>.size)
        _ = unsafe withUnsafeMutablePointer(to: &address) {
            unsafe $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                unsafe getsockname(descriptor, $0, &size)
            }
        }
        return UInt16(bigEndian: address.sin_port)
    }

    private static var isForNow: Bool { [EAGAIN, EWOULDBLOCK, EINTR].contains(errno) }

    /// No call blocks, and no child process that executes a program keeps the descriptor.
    private func prepare() {
        _ = fcntl(descriptor, F_SETFL, O_NONBLOCK)
        _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
        SystemCalls.silence(descriptor)
    }

    private static func check(
        _ call: String, _ result: Int32
    ) throws(LiveTimeline.Failure) -> Int32 {
        guard result < 0 else { return result }
        // Unsafe in name only: the system's text is copied at once.
        throw LiveTimeline.Failure(call: call, reason: unsafe String(cString: strerror(errno)))
    }
}
