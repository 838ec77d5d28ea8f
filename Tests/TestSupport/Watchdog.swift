import Dispatch
import Foundation
package import Testing

/// Runs `body`, which may block, on a thread of its own. It is a failure, not a hang, if that takes a quarter of an hour.
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
    #expect(hasEnded, "somebody was forgotten", sourceLocation: sourceLocation)
}

/// How often a race is run: debug builds look for what is wrong at once, release builds for what is rare.
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
