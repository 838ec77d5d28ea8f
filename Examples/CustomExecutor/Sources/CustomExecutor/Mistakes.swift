import ExecutionContexts
import Foundation

// Three executors. Each has a mistake that is easy to make and hard to see.

/// Queues jobs on a stack, so the newest one runs first. It breaks law 2.
struct NewestFirst: SerialContext {
    private let stack = LockedResource<[Work]>([], lockedBy: .section)
    private let queue = DispatchQueue(label: "newest first")

    func execute(_ work: @escaping Work) {
        stack.mutate { $0.append(work) }
        queue.async { stack.mutate { $0.popLast() }?() }
    }
}

/// Claims every thread except the main thread. It breaks law 4.
struct ClaimsEveryThread: ExecutionContext {
    func execute(_ work: @escaping Work) { DispatchQueue.global().async(execute: work) }
    var isCurrent: Bool? { !Thread.isMainThread }
}

/// Retains the last closure, perhaps for a log, and so all its captures. It breaks law 10.
struct RemembersTheLast: SerialContext {
    private let last = LockedResource<Work?>(nil, lockedBy: .section)
    private let queue = DispatchQueue(label: "remembers")

    func execute(_ work: @escaping Work) {
        queue.async {
            last.mutate { $0 = work }
            work()
        }
    }
}
