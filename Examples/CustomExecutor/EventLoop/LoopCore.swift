import ExecutionContexts
import Foundation

/// The part of an event loop that its thread keeps alive.
final class LoopCore: @unchecked Sendable {
    // Unchecked: `waiting` and `isClosed` are under `lock`, `watchers` belongs to the thread, and the rest is constant.
    private let lock = NSLock()
    private var waiting = Line()
    private var isClosed = false

    /// What to call when a descriptor can be read.
    var watchers: [Int32: Work] = [:]

    private let bell = Bell()

    /// On the thread of a loop: whose it is.
    private static let here = ThreadLocalValue<LoopCore>()

    var isCurrent: Bool { Self.here.cachedValue() === self }

    func post(_ work: @escaping Work) {
        let isFirst = lock.withLock {
            waiting.append(work)
            return waiting.count == 1
        }
        // Who comes second finds a bell that has been rung, or a loop that is awake.
        if isFirst { bell.ring() }
    }

    func close() {
        lock.withLock { isClosed = true }
        bell.ring()
    }

    func startThread(name: String) {
        Thread {
            Thread.current.name = name
            Self.here.withValue(self) { while self.takeTurn() {} }
        }.start()
    }

    /// Runs what is waiting now, then looks after the descriptors; false when all is over.
    private func takeTurn() -> Bool {
        // So many and no more: work that submits work must not keep the descriptors waiting for ever.
        for _ in 0..<lock.withLock({ waiting.count }) {
            let work = lock.withLock { waiting.popFirst() }
            work?()
        }
        let (isIdle, isOver) = lock.withLock { (waiting.isEmpty, waiting.isEmpty && isClosed) }
        if isOver { return false }
        for descriptor in readable(of: Array(watchers.keys), wait: isIdle) {
            // It may be watched no more: the one before it may have seen to that.
            watchers[descriptor]?()
        }
        return true
    }

    /// The descriptors that can be read now, or, if it is to wait, when one can or the bell rings.
    private func readable(of descriptors: [Int32], wait: Bool) -> [Int32] {
        var polled = ([bell.descriptor] + descriptors).map {
            pollfd(fd: $0, events: Int16(POLLIN), revents: 0)
        }
        // Unsafe in name only: the array is there while the call uses it.
        let count = unsafe poll(&polled, nfds_t(polled.count), wait ? -1 : 0)
        // A signal may have interrupted it; then it looks again at its next turn.
        guard count > 0 else { return [] }
        if polled[0].revents != 0 { bell.silence() }
        return polled.dropFirst().filter { $0.revents != 0 }.map(\.fd)
    }
}
