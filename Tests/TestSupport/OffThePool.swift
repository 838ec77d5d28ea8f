import Dispatch

/// Runs a test body that blocks on a thread outside the cooperative pool.
package func offThePool(_ body: @escaping @Sendable () -> Void) async {
    await withCheckedContinuation { continuation in
        DispatchQueue(label: "a test that blocks").async {
            body()
            continuation.resume()
        }
    }
}
