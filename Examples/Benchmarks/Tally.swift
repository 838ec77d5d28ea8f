import Dispatch
import Synchronization

/// Counts finished operations of one thread at a time and wakes the waiter at the last.
///
/// For serial contexts, whose pieces need no atomics among themselves.
final class Tally: @unchecked Sendable {
    // Unchecked: `left` is touched by one serial context's work at a time.
    private var left: Int
    private let done = DispatchSemaphore(value: 0)

    init(_ count: Int) { left = count }

    func hit() {
        left -= 1
        if left == 0 { done.signal() }
    }

    func wait() { done.wait() }
}

/// Counts finished operations of any thread and wakes the waiter at the last.
final class SharedTally: Sendable {
    private let left: Atomic<Int>
    private let done = DispatchSemaphore(value: 0)

    init(_ count: Int) { left = Atomic(count) }

    func hit() {
        if left.subtract(1, ordering: .acquiringAndReleasing).newValue == 0 { done.signal() }
    }

    func wait() { done.wait() }
}

/// Runs `body` on so many threads at a time and returns when all have ended.
func onThreads(_ count: Int, _ body: @escaping @Sendable (Int) -> Void) {
    if count == 1 { return body(0) }
    let group = DispatchGroup()
    for index in 0..<count {
        DispatchQueue(label: "producer.\(index)").async(group: group) { body(index) }
    }
    group.wait()
}
