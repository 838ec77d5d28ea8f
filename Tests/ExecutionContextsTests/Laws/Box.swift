import Foundation

/// A value that several threads may use, one at a time.
final class Box<Value: Sendable>: @unchecked Sendable {
    // Unchecked: `stored` is reached only under `lock`, which the thread sanitizer understands.
    private let lock = NSLock()
    private var stored: Value

    init(_ value: Value) { stored = value }

    var value: Value {
        get { withValue { $0 } }
        set { withValue { $0 = newValue } }
    }

    func withValue<Result>(_ body: (inout Value) throws -> Result) rethrows -> Result {
        lock.lock()
        defer { lock.unlock() }
        return try body(&stored)
    }
}
