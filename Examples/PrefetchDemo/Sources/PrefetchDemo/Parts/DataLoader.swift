import ExecutionContexts
import ExecutionContextsWork
import Foundation

/// Reads files. Concurrent requests share one read. It is confined to the injected context.
///
/// The reads run on a queue that starts the most urgent one first.
final class DataLoader: Sendable {
    private let files: SingleFlight<String, [UInt8]>

    init(
        on context: some SerialContext, readingOn queue: PrioritizedQueue,
        by read: @escaping @Sendable (_ path: String) throws -> [UInt8] = bytes(ofFile:)
    ) {
        files = SingleFlight(name: "file", on: context) { path, flight in
            flight.follow(queue.submit(priority: flight.priority) { try read(path) })
        }
    }

    /// The bytes of a file, to follow or to subscribe to.
    subscript(path: String) -> SharedWork<[UInt8]> { files[path] }

    /// How many files have been requested and are not read yet.
    var liveCount: Int { files.graph.liveCount }
}

/// The content of a file. Throws an error that names the file if it cannot be read.
@Sendable func bytes(ofFile path: String) throws -> [UInt8] {
    guard let data = FileManager.default.contents(atPath: path) else {
        throw ImageError.missing(path)
    }
    return Array(data)
}
