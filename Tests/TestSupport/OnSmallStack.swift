import Dispatch
import Foundation

/// Admits one body at a time: each keeps a processor busy, and the main thread needs its share.
private let permit = DispatchSemaphore(value: 1)

/// Runs `body` on a thread with a stack of 512 KB, which is the system's default for a thread that
/// is not the main one.
package func onSmallStack(_ body: @escaping @Sendable () -> Void) async {
    await withCheckedContinuation { continuation in
        let thread = Thread {
            permit.wait()
            body()
            permit.signal()
            continuation.resume()
        }
        thread.stackSize = 512 * 1024
        thread.start()
    }
}
