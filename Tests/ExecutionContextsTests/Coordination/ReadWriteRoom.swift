import ExecutionContexts
import Foundation

/// What a coordinator guards in a test. It detects overlapping accesses and counts each writer's
/// writes.
///
/// Its counts are plain memory on purpose: the thread sanitizer reports accesses that the
/// coordinator does not order.
final class ReadWriteRoom: @unchecked Sendable {
    // Unchecked: the coordinator under test guards `left`, `right` and `own`. A box guards the
    // faults.
    private var left = 0
    private var right = 0
    private var own: [Int]
    private let faults = Box<[String]>([])
    /// Runs between two loads of the counts: a scheduling point, on a simulated thread.
    private let pause: @Sendable () -> Void

    init(writers: Int = 1, pause: @escaping @Sendable () -> Void = {}) {
        own = Array(repeating: 0, count: writers)
        self.pause = pause
    }

    /// The first fault, or nil.
    var fault: String? { faults.value.first }

    func expect(_ condition: Bool, _ fault: @autoclosure () -> String) {
        if !condition { faults.withValue { $0.append(fault()) } }
    }

    /// The body of a write.
    func write(_ writer: Int = 0) {
        let before = left
        expect(before == right, "a write began inside another one")
        left += 1
        own[writer] += 1
        pause()
        expect(left == before + 1, "a write overlaps another one")
        right += 1
    }

    /// The body of a read. Returns how often `writer` has written.
    @discardableResult
    func read(_ writer: Int = 0) -> Int {
        let (before, count) = (left, own[writer])
        expect(before == right, "a read saw half a write")
        pause()
        expect(left == before && right == before, "a write overlaps a read")
        return count
    }

    /// The number of writes. Call it inside a read, or after all accesses.
    var total: Int { right }
}

extension ReadWriteCoordinator {
    /// Makes so many reads that the next readers enter by announcement in a slot.
    func bringBias() { for _ in 0..<200 { read {} } }
}

extension ReadWriteCoordinator {
    /// Makes a coordinator whose write context has no static type.
    convenience init(writesOnAny context: any ExecutionContext) {
        func make(_ context: some ExecutionContext) -> Forwarding { Forwarding(context: context) }
        self.init(writesOn: make(context))
    }
}

/// A context that forwards every requirement that a coordinator uses of its write context.
private struct Forwarding: ExecutionContext {
    let context: any ExecutionContext
    func execute(_ work: @escaping Work) { context.execute(work) }
    func enqueue(_ work: @escaping Work) { context.enqueue(work) }
    func execute(_ work: @escaping Work, refused: @escaping @Sendable (Refusal) -> Void) {
        context.execute(work, refused: refused)
    }
    var isCurrent: Bool? { context.isCurrent }
    var submissionTransform: (@Sendable (_ work: @escaping Work) -> Work)? {
        context.submissionTransform
    }
    var time: any TimeSource { context.time }
    var runsAnywhere: Bool { context.runsAnywhere }
    var name: String { context.name }
}

/// Runs `body` on another thread, and returns its result.
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
