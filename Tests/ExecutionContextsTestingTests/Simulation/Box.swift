import Foundation

/// A value whose changes are no points of a simulation.
final class Box<Value: Sendable>: @unchecked Sendable {
    // Unchecked: `stored` is reached only under `lock`, which no lane stops inside.
    private let lock = NSLock()
    private var stored: Value

    init(_ value: Value) { stored = value }

    var value: Value { change { $0 } }

    @discardableResult
    func change<Result>(_ body: (inout Value) -> Result) -> Result {
        lock.lock()
        defer { lock.unlock() }
        return body(&stored)
    }
}
