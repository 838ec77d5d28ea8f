import Dispatch
import Synchronization

/// Counts finished operations and wakes the waiter at the last.
///
/// There is one of each kind, global: a closure that counts on it captures nothing, so what is measured is
/// the context and not the reference count of a shared object that two processors pass back and forth.
final class Tally: @unchecked Sendable {
    // Unchecked: `left` is touched by one serial context's work at a time, and by `expect` before it.
    private var left = 0
    private let done = DispatchSemaphore(value: 0)

    func expect(_ count: Int) { left = count }

    func hit() {
        left -= 1
        if left == 0 { done.signal() }
    }

    func wait() { done.wait() }
}

/// For work of one serial context.
let tally = Tally()

/// The same for work that runs on several threads at a time.
final class SharedTally: Sendable {
    private let left = Atomic<Int>(0)
    private let done = DispatchSemaphore(value: 0)

    func expect(_ count: Int) { left.store(count, ordering: .releasing) }

    func hit() {
        if left.subtract(1, ordering: .acquiringAndReleasing).newValue == 0 { done.signal() }
    }

    func wait() { done.wait() }
}

/// For work of concurrent contexts, and of many serial ones.
let sharedTally = SharedTally()

/// Runs `body` on so many threads at a time and returns when all have ended.
func onThreads(_ count: Int, _ body: @escaping @Sendable (Int) -> Void) {
    if count == 1 { return body(0) }
    let group = DispatchGroup()
    for index in 0..<count {
        DispatchQueue(label: "producer.\(index)").async(group: group) { body(index) }
    }
    group.wait()
}
