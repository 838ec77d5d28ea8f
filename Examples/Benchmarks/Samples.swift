import Foundation

/// Figures that several threads bring.
final class Samples: @unchecked Sendable {
    // Unchecked: `all` is reached under the lock only.
    private let lock = NSLock()
    private var all: [Double] = []

    func add(_ figure: Double) { lock.withLock { all.append(figure) } }

    var sorted: [Double] { lock.withLock { all.sorted() } }
}

/// Up until it is lowered.
final class Flag: @unchecked Sendable {
    // Unchecked: reached under the lock only.
    private let lock = NSLock()
    private var stands = true

    var isUp: Bool { lock.withLock { stands } }

    func lower() { lock.withLock { stands = false } }
}
