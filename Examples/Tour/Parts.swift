import ExecutionContexts
import Foundation

/// An actor whose code runs on the context it was given.
actor Store {
    private let executor: any SerialExecutor
    private(set) var total = 0

    init(on context: some ActorBackingContext) { executor = context.serialExecutor }

    nonisolated var unownedExecutor: UnownedSerialExecutor {
        unsafe executor.asUnownedSerialExecutor()
    }

    func add(_ amount: Int) { total += amount }
}

/// A number without any protection of its own.
final class Ledger: @unchecked Sendable {
    // Unchecked: one serial context's work at a time touches it, which is what the chapter shows.
    private(set) var total = 0
    func add(_ amount: Int) { total += amount }
}

/// Counts how many are inside at a time.
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

/// Lines in the order in which they came.
final class Log: @unchecked Sendable {
    // Unchecked: everything is under `lock`.
    private let lock = NSLock()
    private var lines: [String] = []

    var entries: [String] { lock.withLock { lines } }

    func add(_ line: String) { lock.withLock { lines.append(line) } }
}
