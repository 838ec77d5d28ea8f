internal import Dispatch

/// Runs work that blocks its thread - files, locks, synchronous calls - up to a limit at a time (law 11).
///
/// Each piece gets a thread at once, also where the shared pool is busy, and threads that find nothing more
/// to do go back to the system. Beyond the limit, work waits in order.
public final class BlockingContext: ExecutionContext {
    /// One thread's worth of work: a serial queue, which the system gives a thread of its own at once.
    private typealias Lane = DispatchQueue

    private struct State: ~Copyable {
        var waiting = WorkQueue()
        var idle: [Lane] = []
        var made = 0
    }

    /// How many pieces may run at a time.
    public let limit: Int
    public let name: String
    private let state = Guarded(State())

    /// A context with lanes of its own. A limit below 1 stops the program.
    public init(limit: Int = 64, name: String = "blocking") {
        require(
            limit >= 1, "A blocking context with a limit of \(limit) could never run anything (law 1).")
        self.limit = limit
        self.name = name
    }

    public func execute(_ work: @escaping Work) {
        Seam.leaves(for: name)
        let lane: Lane? = state.withLock { state in
            state.waiting.append(work)
            if let lane = state.idle.popLast() { return lane }
            guard state.made < limit else { return nil }
            state.made += 1
            return Lane(label: "\(name).\(state.made)")
        }
        if let lane { lane.async { self.drain(lane) } }
    }

    /// Yes inside its work, no elsewhere.
    ///
    /// The one exception: work that crossed to another thread through a foreign queue's `sync` (law 4).
    public var isCurrent: Bool? { unsafe Frame.isCurrent(Frame.owner(self)) }

    public var runsAnywhere: Bool { true }

    private func drain(_ lane: Lane) {
        unsafe Frame.enter(Frame.owner(self)) {
            while let work = next(orRest: lane) { work() }
        }
    }

    private func next(orRest lane: Lane) -> Work? {
        state.withLock { state in
            if let work = state.waiting.popFirst() { return work }
            state.idle.append(lane)
            return nil
        }
    }
}

extension ExecutionContext where Self == BlockingContext {
    /// The shared context for work that blocks its thread, 64 pieces at a time.
    public static var blocking: BlockingContext { .shared }
}

extension BlockingContext {
    static let shared = BlockingContext()
}
