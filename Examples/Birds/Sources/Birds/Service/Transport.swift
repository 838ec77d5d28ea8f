import ExecutionContexts
import Foundation

/// Fetches the content of a path of the server: over the network, or from the answers of a test.
protocol Transport: Sendable {
    /// Fetches the body of the answer. Cancelling ends the request (law 26).
    func get(_ path: String) -> Async<Data>
}
