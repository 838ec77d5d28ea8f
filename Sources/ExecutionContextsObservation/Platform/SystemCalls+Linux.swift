#if os(Linux) || os(Android)
internal import Foundation

/// The system calls of the live timeline that differ between systems.
enum SystemCalls {
    static let stream = Int32(SOCK_STREAM.rawValue)

    /// Makes sending to a closed socket an error, not a signal that ends the program.
    static let sending = Int32(MSG_NOSIGNAL)

    static func silence(_ descriptor: Int32) {}

    /// The loopback address. Port 0 lets the system choose a free port.
    static func loopback(port: UInt16) -> sockaddr_in {
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = port.bigEndian
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        return address
    }

    /// A thread that its creator must join or detach.
    struct Thread: Sendable {
        private let thread: pthread_t

        /// Starts a thread that runs `body` and ends; nil if the system has none.
        init?(_ body: @escaping @Sendable () -> Void) {
            let retained = unsafe Unmanaged.passRetained(ThreadBody(body))
            var thread = pthread_t()
            // The new thread releases the body. If there is no thread, this one does.
            let failure = unsafe pthread_create(
                &thread, nil,
                { argument in
                    guard let argument = unsafe argument else { return nil }
                    unsafe Unmanaged<ThreadBody>.fromOpaque(argument).takeRetainedValue().run()
                    return nil
                }, unsafe retained.toOpaque())
            guard failure == 0 else {
                unsafe retained.release()
                return nil
            }
            self.thread = thread
        }

        var isCurrent: Bool { pthread_equal(thread, pthread_self()) != 0 }

        func join() { _ = pthread_join(thread, nil) }

        func detach() { _ = pthread_detach(thread) }
    }
}
#endif
