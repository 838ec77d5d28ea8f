import ExecutionContexts
import Foundation

/// Gets what is at a path on the server: over the network, or from what a test has prepared.
protocol Transport: Sendable {
    /// Gets the body of the answer; cancelling ends the request (law 26).
    func get(_ path: String) -> Async<Data>
}
