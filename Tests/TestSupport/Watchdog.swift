import Dispatch
import Foundation
package import Testing

/// Runs `body`, which may block, on its own thread. The test fails if that takes 15 minutes.
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
            continuation.resume(returning: end.wait(timeout: .now() + .seconds(900)) == .success)
        }
    }
    #expect(hasEnded, "the body has not ended after 15 minutes", sourceLocation: sourceLocation)
}

/// The number of rounds of a race: debug builds find common faults, release builds rare ones.
package func rounds(debug: Int, release: Int) -> Int {
    #if DEBUG
    debug
    #else
    release
    #endif
}

/// The seeds that a test draws its cases from; twenty times as many in a long run.
package func seeds(debug: Int, release: Int) -> Range<UInt64> {
    0..<UInt64(rounds(debug: debug, release: release) * (isLongRun ? 20 : 1))
}
