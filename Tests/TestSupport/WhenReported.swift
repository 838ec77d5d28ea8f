import Foundation

/// Calls `body` when the process has written a line with `part` on its standard error, after
/// `start`.
///
/// For the process of an exit test.
package func whenReported(_ part: String, after start: () -> Void = {}, _ body: () -> Void) {
    let (pipe, before) = (Pipe(), dup(2))
    dup2(pipe.fileHandleForWriting.fileDescriptor, 2)
    start()
    var text = Data()
    let newline = UInt8(ascii: "\n")
    while !String(decoding: text, as: UTF8.self).contains(part) || text.last != newline {
        text += pipe.fileHandleForReading.availableData
    }
    dup2(before, 2)
    FileHandle.standardError.write(text)
    body()
}

/// Runs `body` on a thread, and ends the process with success when it has written such a line.
package func exitWhenReported(_ part: String, _ body: @escaping @Sendable () -> Void) {
    whenReported(part, after: { Thread.detachNewThread(body) }) { exit(0) }
}
