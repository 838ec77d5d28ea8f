internal import CPlatform

/// Runs work on the caller like `.immediate`, but nested work waits until the running piece has ended (law 5).
///
/// A chain of a million links, each submitted by the one before, needs no more stack than one. Work that a
/// piece submits has run when the outermost `execute` returns. Each thread has a queue of its own.
public struct TrampolineContext: ExecutionContext {
    /// Makes the context; all are alike.
    public init() {}

    public func execute(_ work: consuming @escaping Work) {
        if let running = unsafe ec_trampoline() {
            unsafe running.assumingMemoryBound(to: WorkQueue.self).pointee.append(work)
        } else {
            Self.run(work)
        }
    }

    public func enqueue(_ work: consuming @escaping Work) {
        let work = MovedWork(consume work)
        GlobalContext().execute { execute { work.run() } }
    }

    /// Yes inside a piece of work of a trampoline on this thread, no elsewhere.
    public var isCurrent: Bool? { unsafe ec_trampoline() != nil }

    public var name: String { "trampoline" }

    public var runsAnywhere: Bool { true }

    private static func run(_ work: consuming @escaping Work) {
        var queue = WorkQueue()
        // Given away, so that it is freed before the jobs run that it submits (law 10).
        queue.append(work)
        // The queue lives in this stack frame, and the thread's word points to it only while it stands.
        unsafe withUnsafeMutablePointer(to: &queue) { queue in
            unsafe ec_set_trampoline(queue)
            defer { ec_set_trampoline(nil) }
            while let next = unsafe queue.pointee.popFirst() { next() }
        }
    }
}

extension ExecutionContext where Self == TrampolineContext {
    /// Runs work on the caller, nested work after the running piece (law 5).
    public static var trampoline: TrampolineContext { TrampolineContext() }
}
