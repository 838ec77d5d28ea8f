import Dispatch
import Foundation

/// Runs `body` on so many threads of their own at the same time, and returns when all have ended.
func onThreads(_ count: Int, _ body: @escaping @Sendable () -> Void) {
    onThreads((0..<count).map { _ in body })
}

/// Runs each body on a thread of its own, all at the same time, and returns when all have ended.
func onThreads(_ bodies: [@Sendable () -> Void]) {
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
