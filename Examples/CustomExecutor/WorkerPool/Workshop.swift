import ExecutionContexts
import Foundation

/// The part of a pool that its threads keep alive: the lines, and whether anything more may come.
final class Workshop: @unchecked Sendable {
    // Unchecked: every variable is under `condition`, and no closure runs or is freed under it (law 9).
    private let condition = NSCondition()
    private var lines = PriorityLines()
    private var isClosed = false
    private var threadCount = 0

    /// On the threads that run a workshop's work: which one. A thread asks only itself, so no lock is needed.
    private static let here = ThreadLocalValue<Workshop>()

    var isCurrent: Bool { Self.here.cachedValue() === self }

    /// Takes work; false if it is closed.
    func accept(_ work: @escaping Work, _ urgency: Urgency) -> Bool {
        condition.withLock {
            if isClosed { return false }
            lines.append(work, urgency)
            condition.signal()
            return true
        }
    }

    /// Takes work also when it is closed; when the threads have gone, the system's run it.
    func admit(_ work: @escaping Work, _ urgency: Urgency) {
        let isTaken = condition.withLock {
            if threadCount == 0 { return false }
            lines.append(work, urgency)
            condition.signal()
            return true
        }
        if !isTaken { GlobalContext().execute { Self.here.withValue(self, operation: work) } }
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
            // A closure dies at the end of its turn of the loop, before the thread looks for another one (law 10).
            Self.here.withValue(self) { while let work = self.next() { work() } }
        }.start()
    }

    /// The next piece of work, as soon as there is one, or nil when there will be none.
    private func next() -> Work? {
        condition.withLock {
            while true {
                if let work = lines.popFirst() { return work }
                if isClosed {
                    // Under the same lock as the last look at the lines: nothing is put there for nobody.
                    threadCount -= 1
                    condition.broadcast()
                    return nil
                }
                condition.wait()
            }
        }
    }
}
