import Foundation

/// Wakes a thread that polls file descriptors, by a pipe that is one of them (the self-pipe trick).
struct WakeUpPipe: Sendable {
    private let pipe = Pipe()

    /// It becomes readable when the thread should wake.
    var descriptor: Int32 { pipe.fileHandleForReading.fileDescriptor }

    /// Wakes the thread, now or when it polls next.
    func signal() {
        var byte: UInt8 = 0
        // Unsafe in name only: `byte` outlives the call. Only a signal can interrupt the call.
        while unsafe write(pipe.fileHandleForWriting.fileDescriptor, &byte, 1) == -1, errno == EINTR
        {}
    }

    /// Reads the signals so far. Call it only when the descriptor is readable.
    func clear() {
        // Between two calls there are one or two signals. A remaining signal wakes the loop again,
        // which is harmless.
        var bytes: UInt64 = 0
        // Unsafe in name only: the call writes at most the size of `bytes`.
        _ = unsafe read(descriptor, &bytes, MemoryLayout.size(ofValue: bytes))
    }
}
