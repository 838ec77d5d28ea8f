import ExecutionContexts
import Foundation

/// What a coordinator guards in a test: it notices who is inside with whom, and what each writer has written.
///
/// Its counts are plain memory on purpose: the thread sanitizer sees whether the coordinator orders them.
final class ReadWriteRoom: @unchecked Sendable {
    // Unchecked: `left`, `right` and `own` are guarded by the coordinator under test, the faults by a box.
    private var left = 0
    private var right = 0
    private var own: [Int]
    private let faults = Box<[String]>([])
    /// What goes on between two looks: a simulated thread lets others have their turn.
    private let pause: @Sendable () -> Void

    init(writers: Int = 1, pause: @escaping @Sendable () -> Void = {}) {
        own = Array(repeating: 0, count: writers)
        self.pause = pause
    }

    /// What went wrong first, if anything.
    var fault: String? { faults.value.first }

    func expect(_ condition: Bool, _ fault: @autoclosure () -> String) {
        if !condition { faults.withValue { $0.append(fault()) } }
    }

    /// For the body of a write.
    func write(_ writer: Int = 0) {
        let before = left
        expect(before == right, "a write began inside another")
        left += 1
        own[writer] += 1
        pause()
        expect(left == before + 1, "a write ran beside another")
        right += 1
    }

    /// For the body of a read: returns how much that writer has written.
    @discardableResult
    func read(_ writer: Int = 0) -> Int {
        let (before, count) = (left, own[writer])
        expect(before == right, "a read saw half a write")
        pause()
        expect(left == before && right == before, "a write ran beside a read")
        return count
    }

    /// How many writes there were, for the body of a read or after everything.
    var total: Int { right }
}

extension ReadWriteCoordinator {
    /// Lets so many reads pass that the next ones enter by claim.
    func bringBias() { for _ in 0..<200 { read {} } }
}

extension ReadWriteCoordinator {
    /// A coordinator over a carrier whose type is not known.
    convenience init(carriedBy carrier: any ExecutionContext) {
        func make(_ carrier: some ExecutionContext) -> Opened { Opened(context: carrier) }
        self.init(carrier: make(carrier))
    }
}

/// A context in a box that forwards all that a coordinator asks of its carrier.
private struct Opened: ExecutionContext {
    let context: any ExecutionContext
    func execute(_ work: @escaping Work) { context.execute(work) }
    func enqueue(_ work: @escaping Work) { context.enqueue(work) }
    func execute(_ work: @escaping Work, refused: @escaping @Sendable (Refusal) -> Void) {
        context.execute(work, refused: refused)
    }
    var isCurrent: Bool? { context.isCurrent }
    var binding: (@Sendable (_ work: @escaping Work) -> Work)? { context.binding }
    var time: any TimeSource { context.time }
    var runsAnywhere: Bool { context.runsAnywhere }
    var name: String { context.name }
}

/// What `body` returns on a thread of its own.
func onAnotherThread<Value: Sendable>(_ body: @escaping @Sendable () -> Value) -> Value {
    let result = Box<Value?>(nil)
    onThreads([{ result.value = body() }])
    return result.value!
}

extension Box where Value == Int {
    /// Adds one and returns the sum.
    func increment() -> Int {
        withValue {
            $0 += 1
            return $0
        }
    }
}
