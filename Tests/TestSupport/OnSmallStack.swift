import Dispatch
import Foundation

/// One body at a time: each keeps a processor busy, and the main thread is to have its share.
private let turn = DispatchSemaphore(value: 1)

/// Runs `body` on a thread with a stack of 512 KB, which is what the system gives a thread that is not the main one.
package func onSmallStack(_ body: @escaping @Sendable () -> Void) async {
    await withCheckedContinuation { continuation in
        let thread = Thread {
            turn.wait()
            body()
            turn.signal()
            continuation.resume()
        }
        thread.stackSize = 512 * 1024
        thread.start()
    }
}

/// Whether tests are to take their time: `EXECUTION_CONTEXTS_LONG=1`.
package let isLongRun = ProcessInfo.processInfo.environment["EXECUTION_CONTEXTS_LONG"] == "1"
