import ExecutionContexts
import Foundation

/// An actor that runs on an injected context.
actor Store {
    private let context: any ActorBackingContext
    private(set) var total = 0

    init(on context: some ActorBackingContext) { self.context = context }

    nonisolated var unownedExecutor: UnownedSerialExecutor {
        unsafe context.asUnownedSerialExecutor()
    }

    func add(_ amount: Int) { total += amount }
}

/// A number, without synchronization of its own.
final class Ledger: @unchecked Sendable {
    // Unchecked: a serial context or a section guards it, as the chapters show.
    private(set) var total = 0
    func add(_ amount: Int) { total += amount }
}

/// Counts entries, and the most callers inside at once.
final class Meter: @unchecked Sendable {
    // Unchecked: everything is under `lock`.
    private let lock = NSLock()
    private var inside = 0
    private var highest = 0
    private var entered = 0

    var most: Int { lock.withLock { highest } }
    var total: Int { lock.withLock { entered } }

    func enter() {
        lock.withLock {
            entered += 1
            inside += 1
            highest = max(highest, inside)
        }
    }

    func leave() { lock.withLock { inside -= 1 } }
}

/// Lines of text, in the order of arrival.
final class Log: @unchecked Sendable {
    // Unchecked: everything is under `lock`.
    private let lock = NSLock()
    private var lines: [String] = []

    var entries: [String] { lock.withLock { lines } }

    func add(_ line: String) { lock.withLock { lines.append(line) } }
}
