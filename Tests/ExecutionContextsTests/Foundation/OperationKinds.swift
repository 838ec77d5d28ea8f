import Foundation
import TestSupport

/// Text lines in the order in which they were noted.
final class OperationLog: Sendable {
    private let box = Box<[String]>([])
    var lines: [String] { box.value }
    func note(_ line: String) { box.withValue { $0.append(line) } }

    /// Notes how each operation ended.
    func note(_ operations: [Operation]) {
        for (index, operation) in operations.enumerated() {
            note("\(index): finished \(operation.isFinished), cancelled \(operation.isCancelled)")
        }
    }
}

/// Counts the bodies that are inside at a time.
final class Overlap: Sendable {
    private let state = Box((now: 0, most: 0))
    func enter() { state.withValue { $0 = ($0.now + 1, max($0.most, $0.now + 1)) } }
    func leave() { state.withValue { $0.now -= 1 } }
    var most: Int { state.value.most }
    var isEmpty: Bool { state.value.now == 0 }
}

/// An operation that ends when `finish()` is called, after its `start()` has returned.
final class OpenOperation: Operation, @unchecked Sendable {
    // Unchecked: the state is in a box; the rest is constant.
    private enum Phase { case waiting, executing, finished }
    private let phase = Box(Phase.waiting)
    private let began: @Sendable (OpenOperation) -> Void

    init(_ began: @escaping @Sendable (OpenOperation) -> Void) { self.began = began }

    override var isAsynchronous: Bool { true }
    override var isExecuting: Bool { phase.value == .executing }
    override var isFinished: Bool { phase.value == .finished }

    override func start() {
        if isCancelled { return finish() }
        willChangeValue(forKey: "isExecuting")
        phase.value = .executing
        didChangeValue(forKey: "isExecuting")
        began(self)
    }

    func finish() {
        willChangeValue(forKey: "isExecuting")
        willChangeValue(forKey: "isFinished")
        phase.value = .finished
        didChangeValue(forKey: "isFinished")
        didChangeValue(forKey: "isExecuting")
    }
}

/// An operation that decides for itself when it is ready.
final class HesitantOperation: Operation, @unchecked Sendable {
    // Unchecked: the state is in a box; the rest is constant.
    private let isWilling = Box(false)
    private let body: @Sendable () -> Void

    init(_ body: @escaping @Sendable () -> Void) { self.body = body }

    override var isReady: Bool { super.isReady && (isWilling.value || isCancelled) }
    override func main() { body() }

    func agree() {
        willChangeValue(forKey: "isReady")
        isWilling.value = true
        didChangeValue(forKey: "isReady")
    }
}
