import Foundation

/// What has happened, in order.
final class Log: Sendable {
    private let stored = Box<[String]>([])
    var entries: [String] { stored.value }
    func add(_ entry: String) { stored.withValue { $0.append(entry) } }
}

/// A value that several threads may use, one at a time.
final class Box<Value: Sendable>: @unchecked Sendable {
    // Unchecked: `stored` is reached only under `lock`, which the thread sanitizer understands.
    private let lock = NSLock()
    private var stored: Value

    init(_ value: Value) { stored = value }

    var value: Value { withValue { $0 } }

    func withValue<Result>(_ body: (inout Value) -> Result) -> Result {
        lock.lock()
        defer { lock.unlock() }
        return body(&stored)
    }
}
