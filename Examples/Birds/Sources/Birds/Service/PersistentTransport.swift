import ExecutionContexts
import Foundation

/// A transport over another one. It limits the time of an attempt, and retries if that may help.
///
/// Time limits and back-off use the time of its context, which a test can advance (law 7).
struct PersistentTransport: Transport {
    let base: any Transport
    let context: any ExecutionContext
    var attempts = 3
    /// How long one attempt may take.
    var limit = Duration.seconds(10)
    // Jitter: clients that were refused together do not retry together.
    var backoff = Backoff.exponential(from: .milliseconds(500)).jittered(by: 0.2)

    func get(_ path: String) -> Async<Data> {
        Async.retry(attempts: attempts, backoff: backoff, on: context, while: Self.isTransient) {
            _ in
            base.get(path).timeout(after: limit, on: context)
        }
    }

    /// Whether another attempt may succeed: not if the server has rejected the request.
    private static func isTransient(_ error: any Error) -> Bool {
        switch error {
        case BirdError.status(let code, _): code >= 500
        case is BirdError: false
        default: true
        }
    }
}
