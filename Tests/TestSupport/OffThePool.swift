import Dispatch

/// Runs a test body that blocks its thread on a thread of its own, not on one of the cooperative pool.
package func offThePool(_ body: @escaping @Sendable () -> Void) async {
    await withCheckedContinuation { continuation in
        DispatchQueue(label: "a test that blocks").async {
            body()
            continuation.resume()
        }
    }
}
