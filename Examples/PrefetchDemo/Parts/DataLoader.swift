import ExecutionContexts
import ExecutionContextsWork
import Foundation

/// Reads files, each once for all who want it at the same time; confined to the context that it is given.
///
/// The reading itself is done on a queue that begins the most urgent first.
final class DataLoader: Sendable {
    private let files: SingleFlight<String, [UInt8]>

    init(
        on context: some SerialContext, readingOn queue: PrioritizedQueue,
        by read: @escaping @Sendable (_ path: String) throws -> [UInt8] = bytes(ofFile:)
    ) {
        files = SingleFlight("file", on: context) { path, flight in
            flight.follow(queue.submit(priority: flight.priority) { try read(path) })
        }
    }

    /// The bytes of a file, to follow or to subscribe to.
    subscript(path: String) -> SharedWork<[UInt8]> { files[path] }

    /// How many files are wanted and not read yet.
    var liveCount: Int { files.graph.liveCount }
}

/// What is in a file; an error that names it, if it cannot be read.
@Sendable func bytes(ofFile path: String) throws -> [UInt8] {
    guard let data = FileManager.default.contents(atPath: path) else { throw ImageError.missing(path) }
    return Array(data)
}
