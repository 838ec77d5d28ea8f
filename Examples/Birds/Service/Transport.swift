import Foundation

/// Gets what is at a path on the server: over the network, or from what a test has prepared.
protocol Transport: Sendable {
    /// Gets the body of the answer, and calls `completion` with it once, on a thread of the transport's choice.
    func get(_ path: String, completion: @escaping @Sendable (Result<Data, any Error>) -> Void)
}
