import Foundation

/// Figures that several threads add.
final class Samples: @unchecked Sendable {
    // Unchecked: `all` is accessed under the lock only.
    private let lock = NSLock()
    private var all: [Double] = []

    func add(_ figure: Double) { lock.withLock { all.append(figure) } }

    var sorted: [Double] { lock.withLock { all.sorted() } }
}

/// A flag that is up until it is lowered.
final class Flag: @unchecked Sendable {
    // Unchecked: accessed under the lock only.
    private let lock = NSLock()
    private var isRaised = true

    var isUp: Bool { lock.withLock { isRaised } }

    func lower() { lock.withLock { isRaised = false } }
}
