import Dispatch
import Synchronization

/// Counts finished operations and wakes the waiter after the last one.
///
/// Each kind has one global instance, so that a counting closure captures nothing. The benchmarks
/// measure the context, not the reference count of a shared object that processors contend for.
final class Tally: @unchecked Sendable {
    // Unchecked: `expect` accesses `left` first, then the jobs of one serial context do, one at a
    // time.
    private var left = 0
    private let done = DispatchSemaphore(value: 0)

    func expect(_ count: Int) { left = count }

    func hit() {
        left -= 1
        if left == 0 { done.signal() }
    }

    func wait() { done.wait() }
}

/// Counts jobs of one serial context.
let tally = Tally()

/// A tally for jobs that run on several threads at a time.
final class SharedTally: Sendable {
    private let left = Atomic<Int>(0)
    private let done = DispatchSemaphore(value: 0)

    func expect(_ count: Int) { left.store(count, ordering: .releasing) }

    func hit() {
        if left.subtract(1, ordering: .acquiringAndReleasing).newValue == 0 { done.signal() }
    }

    func wait() { done.wait() }
}

/// Counts jobs of concurrent contexts, and of several serial ones.
let sharedTally = SharedTally()

/// Runs `body` on `count` threads at a time and returns when all have ended.
func onThreads(_ count: Int, _ body: @escaping @Sendable (Int) -> Void) {
    if count == 1 { return body(0) }
    let group = DispatchGroup()
    for index in 0..<count {
        DispatchQueue(label: "producer.\(index)").async(group: group) { body(index) }
    }
    group.wait()
}
