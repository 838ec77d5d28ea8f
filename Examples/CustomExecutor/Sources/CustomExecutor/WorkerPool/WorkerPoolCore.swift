import ExecutionContexts
import Foundation

/// The part of a pool that its threads keep alive: the queues, and whether the pool is closed.
final class WorkerPoolCore: @unchecked Sendable {
    // Unchecked: `condition` guards every variable. No closure runs or is released under it
    // (law 9).
    private let condition = NSCondition()
    private var queues = PriorityQueues()
    private var isClosed = false
    private var threadCount = 0

    /// The core whose jobs the thread runs. A thread reads only its own value, without a lock.
    private static let current = ThreadLocalValue<WorkerPoolCore>()

    var isCurrent: Bool { Self.current.cachedValue() === self }

    /// Queues a job; returns false if the pool is closed.
    func accept(_ work: @escaping Work, _ urgency: Urgency) -> Bool {
        condition.withLock {
            if isClosed { return false }
            queues.append(work, urgency)
            condition.signal()
            return true
        }
    }

    /// Queues a job even if the pool is closed. After the threads have ended, the job runs on the
    /// global context.
    func admit(_ work: @escaping Work, _ urgency: Urgency) {
        let isQueued = condition.withLock {
            if threadCount == 0 { return false }
            queues.append(work, urgency)
            condition.signal()
            return true
        }
        if !isQueued { GlobalContext().execute { Self.current.withValue(self, operation: work) } }
    }

    func close() {
        condition.withLock {
            isClosed = true
            condition.broadcast()
        }
    }

    func waitForThreads() {
        condition.withLock { while threadCount > 0 { condition.wait() } }
    }

    func startThread(name: String) {
        condition.withLock { threadCount += 1 }
        Thread {
            Thread.current.name = name
            // Each iteration releases its closure before the thread takes the next job (law 10).
            Self.current.withValue(self) { while let work = self.next() { work() } }
        }.start()
    }

    /// Waits for the next job. Returns nil when the pool is closed and its queues are empty.
    private func next() -> Work? {
        condition.withLock {
            while true {
                if let work = queues.popFirst() { return work }
                if isClosed {
                    // The thread leaves under the same lock as it found the queues empty. So no job
                    // is queued when no thread is left to run it.
                    threadCount -= 1
                    condition.broadcast()
                    return nil
                }
                condition.wait()
            }
        }
    }
}
