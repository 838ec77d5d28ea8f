import Dispatch
import Foundation
package import Testing

/// Runs `body`, which may block, on its own thread. The test fails if that takes as long as
/// `Patience.event`.
package func watched(
    sourceLocation: SourceLocation = #_sourceLocation, _ body: @escaping @Sendable () -> Void
) async {
    let hasEnded = await withCheckedContinuation { continuation in
        let end = DispatchSemaphore(value: 0)
        Thread.detachNewThread {
            body()
            end.signal()
        }
        DispatchQueue(label: "a watchdog").async {
            continuation.resume(returning: end.wait(timeout: Patience.deadline) == .success)
        }
    }
    #expect(
        hasEnded, "the body has not ended after \(Patience.event)", sourceLocation: sourceLocation)
}
