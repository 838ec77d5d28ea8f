internal import ExecutionContexts
internal import Foundation

/// A value behind a lock that the thread sanitizer understands, and that is no scheduling point.
package final class Locked<Value>: @unchecked Sendable {
    // Unchecked: `value` is reached only under `lock`.
    private let lock = NSLock()
    private var value: Value

    package init(_ value: Value) { self.value = value }

    package func withLock<Result>(_ body: (inout Value) throws -> Result) rethrows -> Result {
        SimulationHooks.undivided { lock.lock() }
        defer { lock.unlock() }
        return try body(&value)
    }
}
