import Dispatch
import Foundation

/// Runs `body`, which may block, on a thread of its own, and returns its value.
func onOwnThread<Value: Sendable>(_ body: @escaping @Sendable () -> Value) async -> Value {
    await withCheckedContinuation { continuation in
        Thread.detachNewThread { continuation.resume(returning: body()) }
    }
}

/// Runs `body` on `count` threads of their own, and returns when all have ended.
func onOwnThreads(_ count: Int, _ body: @escaping @Sendable () -> Void) async {
    await withCheckedContinuation { continuation in
        let all = DispatchGroup()
        for _ in 0..<count {
            all.enter()
            Thread.detachNewThread {
                body()
                all.leave()
            }
        }
        all.notify(queue: .global()) { continuation.resume() }
    }
}

/// Lines of text, in the order in which they were added.
final class Lines: @unchecked Sendable {
    // Unchecked: the lock guards the lines.
    private let lock = NSLock()
    private var lines: [String] = []
    var all: [String] { lock.withLock { lines } }
    func add(_ line: String) { lock.withLock { lines.append(line) } }
}
