import ExecutionContexts
import Foundation

// Three executors, each with a mistake that is easily made and hard to see.

/// Keeps what waits on a stack, so the newest comes first: law 2.
struct NewestFirst: SerialContext {
    private let waiting = LockedResource<[Work]>([], lockedBy: .section)
    private let queue = DispatchQueue(label: "newest first")

    func execute(_ work: @escaping Work) {
        waiting.write { $0.append(work) }
        queue.async { waiting.write { $0.popLast() }?() }
    }
}

/// Takes every thread but the main one for its own: law 4.
struct ClaimsEveryThread: ExecutionContext {
    func execute(_ work: @escaping Work) { DispatchQueue.global().async(execute: work) }
    var isCurrent: Bool? { !Thread.isMainThread }
}

/// Remembers what it runs, for a log perhaps, and with it everything that the closure holds: law 10.
struct RemembersTheLast: SerialContext {
    private let last = LockedResource<Work?>(nil, lockedBy: .section)
    private let queue = DispatchQueue(label: "remembers")

    func execute(_ work: @escaping Work) {
        queue.async {
            last.write { $0 = work }
            work()
        }
    }
}
