import ExecutionContexts
import Foundation

/// A value behind a lock that no simulation of this package sees: its uses are no scheduling
/// points.
package final class Box<Value: Sendable>: @unchecked Sendable {
    // Unchecked: `stored` is reached only under `lock`, which the thread sanitizer understands.
    private let lock = NSLock()
    private var stored: Value

    package init(_ value: Value) { stored = value }

    package var value: Value {
        get { withValue { $0 } }
        set { withValue { $0 = newValue } }
    }

    @discardableResult
    package func withValue<Result>(_ body: (inout Value) throws -> Result) rethrows -> Result {
        #if HasHooks
        SimulationHooks.undivided { lock.lock() }
        #else
        lock.lock()
        #endif
        defer { lock.unlock() }
        return try body(&stored)
    }
}
