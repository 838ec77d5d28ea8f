#if canImport(Darwin)
internal import Darwin

/// The system calls of the live timeline that differ between systems.
enum SystemCalls {
    static let stream = SOCK_STREAM

    static let sending: Int32 = 0

    /// Makes sending to a closed socket an error, not a signal that ends the program.
    static func silence(_ descriptor: Int32) {
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

    /// A thread that its creator must join or detach.
    @safe struct Thread: @unchecked Sendable {
        // Unchecked: a constant that the system lets any thread use.
        private let thread: pthread_t

        /// Starts a thread that runs `body` and ends; nil if the system has none.
        init?(_ body: @escaping @Sendable () -> Void) {
            let retained = unsafe Unmanaged.passRetained(ThreadBody(body))
            var thread: pthread_t?
            // The new thread releases the body. If there is no thread, this one does.
            let failure = unsafe pthread_create(
                &thread, nil,
                { argument in
                    guard let argument = unsafe argument as UnsafeMutableRawPointer? else {
                        return nil
                    }
                    unsafe Unmanaged<ThreadBody>.fromOpaque(argument).takeRetainedValue().run()
                    return nil
                }, unsafe retained.toOpaque())
            guard failure == 0, let thread = unsafe thread else {
                unsafe retained.release()
                return nil
            }
            unsafe self.thread = thread
        }

        var isCurrent: Bool { unsafe pthread_equal(thread, pthread_self()) != 0 }

        func join() { _ = unsafe pthread_join(thread, nil) }

        func detach() { _ = unsafe pthread_detach(thread) }
    }
}
#endif
