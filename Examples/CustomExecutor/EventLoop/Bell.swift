import Foundation

/// Wakes a thread that waits for file descriptors: a pipe to oneself, whose one end is among them.
struct Bell: Sendable {
    private let pipe = Pipe()

    /// It can be read when the bell has been rung.
    var descriptor: Int32 { pipe.fileHandleForReading.fileDescriptor }

    /// Wakes the thread, now or when it next waits.
    func ring() {
        var byte: UInt8 = 0
        // Unsafe in name only: one byte, which is there while the call uses it. Nothing but a signal can interrupt it.
        while unsafe write(pipe.fileHandleForWriting.fileDescriptor, &byte, 1) == -1, errno == EINTR {}
    }

    /// Takes the rings so far; only when the descriptor can be read.
    func silence() {
        // A loop that silences once a turn is rung once or twice in between; what were left would only ring again.
        var bytes: UInt64 = 0
        // Unsafe in name only: the call fills at most the bytes that are there.
        _ = unsafe read(descriptor, &bytes, MemoryLayout.size(ofValue: bytes))
    }
}
