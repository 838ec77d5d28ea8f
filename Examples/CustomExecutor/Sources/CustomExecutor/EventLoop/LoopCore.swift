import ExecutionContexts
import Foundation

/// The part of an event loop that its thread keeps alive.
final class LoopCore: @unchecked Sendable {
    // Unchecked: `lock` guards `jobs` and `isClosed`. Only the thread uses `watchers`. The rest is
    // constant.
    private let lock = NSLock()
    private var jobs = JobQueue()
    private var isClosed = false

    /// What to call when a descriptor is readable.
    var watchers: [Int32: Work] = [:]

    private let wakeUp = WakeUpPipe()

    /// The core of the loop whose thread this is.
    private static let current = ThreadLocalValue<LoopCore>()

    var isCurrent: Bool { Self.current.cachedValue() === self }

    func post(_ work: @escaping Work) {
        let isFirst = lock.withLock {
            jobs.append(work)
            return jobs.count == 1
        }
        // For any further job, the loop is awake already or has been signalled.
        if isFirst { wakeUp.signal() }
    }

    func close() {
        lock.withLock { isClosed = true }
        wakeUp.signal()
    }

    func startThread(name: String) {
        Thread {
            Thread.current.name = name
            Self.current.withValue(self) { while self.runOnce() {} }
        }.start()
    }

    /// Runs the jobs that are queued now, then polls the descriptors. Returns false at the end.
    private func runOnce() -> Bool {
        // Only the jobs that are queued now: jobs that submit jobs must not starve the descriptors.
        for _ in 0..<lock.withLock({ jobs.count }) {
            let work = lock.withLock { jobs.popFirst() }
            work?()
        }
        let (isIdle, isOver) = lock.withLock { (jobs.isEmpty, jobs.isEmpty && isClosed) }
        if isOver { return false }
        for descriptor in readable(of: Array(watchers.keys), wait: isIdle) {
            // An earlier call of this iteration may have stopped watching the descriptor.
            watchers[descriptor]?()
        }
        return true
    }

    /// The readable descriptors. If `wait` is true, blocks until there is one or the loop is woken.
    private func readable(of descriptors: [Int32], wait: Bool) -> [Int32] {
        var polled = ([wakeUp.descriptor] + descriptors).map {
            pollfd(fd: $0, events: Int16(POLLIN), revents: 0)
        }
        // Unsafe in name only: the array outlives the call.
        let count = unsafe poll(&polled, nfds_t(polled.count), wait ? -1 : 0)
        // After an interruption by a signal, the next iteration polls again.
        guard count > 0 else { return [] }
        if polled[0].revents != 0 { wakeUp.clear() }
        return polled.dropFirst().filter { $0.revents != 0 }.map(\.fd)
    }
}
