import ExecutionContexts
import Foundation

/// A transport over another one that does not wait for ever, and asks again where that may help.
///
/// Limits and waits pass in the time of its context, so a test makes them pass by hand (law 7).
struct PersistentTransport: Transport {
    let base: any Transport
    let context: any ExecutionContext
    var attempts = 3
    /// How long one attempt may take.
    var limit = Duration.seconds(10)
    // Those who were refused together do not come back together.
    var backoff = Backoff.exponential(from: .milliseconds(500)).jittered(by: 0.2)

    func get(_ path: String) -> Async<Data> {
        Async.retry(attempts, backoff: backoff, on: context, while: Self.mayPass) { _ in
            base.get(path).timeout(after: limit, on: context)
        }
    }

    /// Whether it may be better next time: not where the server understood and said no.
    private static func mayPass(_ error: any Error) -> Bool {
        switch error {
        case BirdError.status(let code, _): code >= 500
        case is BirdError: false
        default: true
        }
    }
}
