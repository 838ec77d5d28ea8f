internal import CPlatform

/// Runs work on the caller like `.immediate`, but nested work waits until the running piece has ended (law 5).
///
/// A chain of a million links, each submitted by the one before, needs no more stack than one. Work that a
/// piece submits has run when the outermost `execute` returns. Each thread has a queue of its own.
public struct TrampolineContext: ExecutionContext {
    /// Makes the context; all are alike.
    public init() {}

    public func execute(_ work: @escaping Work) {
        if let running = unsafe ec_trampoline() {
            unsafe running.assumingMemoryBound(to: WorkQueue.self).pointee.append(work)
        } else {
            Self.run(work)
        }
    }

    public func enqueue(_ work: @escaping Work) {
        GlobalContext().execute { execute(work) }
    }

    /// Yes inside a piece of work of a trampoline on this thread, no elsewhere.
    public var isCurrent: Bool? { unsafe ec_trampoline() != nil }

    public var name: String { "trampoline" }

    public var runsAnywhere: Bool { true }

    private static func run(_ work: Work) {
        var queue = WorkQueue()
        // The queue lives in this stack frame, and the thread's word points to it only while it stands.
        unsafe withUnsafeMutablePointer(to: &queue) { queue in
            unsafe ec_set_trampoline(queue)
            defer { ec_set_trampoline(nil) }
            work()
            while let next = unsafe queue.pointee.popFirst() { next() }
        }
    }
}

extension ExecutionContext where Self == TrampolineContext {
    /// Runs work on the caller, nested work after the running piece (law 5).
    public static var trampoline: TrampolineContext { TrampolineContext() }
}
