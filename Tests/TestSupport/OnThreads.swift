import Dispatch
import Foundation

/// Runs `body` on `count` threads at the same time, and returns when all have ended.
package func onThreads(_ count: Int, _ body: @escaping @Sendable () -> Void) {
    onThreads((0..<count).map { _ in body })
}

/// Runs each body on its own thread, all at the same time, and returns when all have ended.
package func onThreads(_ bodies: [@Sendable () -> Void]) {
    let ready = DispatchGroup()
    let start = DispatchSemaphore(value: 0)
    let done = DispatchGroup()
    for body in bodies {
        ready.enter()
        done.enter()
        Thread.detachNewThread {
            ready.leave()
            start.wait()
            body()
            done.leave()
        }
    }
    ready.wait()
    for _ in bodies { start.signal() }
    done.wait()
}

/// Runs `body` on `count` threads at a time, and waits for all.
///
/// A thread of the cooperative pool must not call it.
package func onThreads(_ count: Int, _ body: @escaping @Sendable (_ thread: Int) -> Void) {
    let all = DispatchGroup()
    for thread in 0..<count {
        DispatchQueue(label: "thread \(thread)").async(group: all) { body(thread) }
    }
    all.wait()
}
