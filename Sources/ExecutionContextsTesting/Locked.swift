internal import Foundation

/// A value behind a lock that the thread sanitizer understands.
final class Locked<Value>: @unchecked Sendable {
    // Unchecked: `value` is reached only under `lock`.
    private let lock = NSLock()
    private var value: Value

    init(_ value: Value) { self.value = value }

    func withLock<Result>(_ body: (inout Value) throws -> Result) rethrows -> Result {
        lock.lock()
        defer { lock.unlock() }
        return try body(&value)
    }
}
