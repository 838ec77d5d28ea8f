internal import CPlatform

/// Runs work on the caller like `.immediate`, but queues nested work behind the running job (law
/// 5).
///
/// A chain of a million jobs, each submitted by the one before, needs no more stack than one job.
/// Work that a job submits has run when the outermost `execute` returns. Each thread has its own
/// queue.
public struct TrampolineContext: ExecutionContext {
    /// Makes the context; all are alike.
    public init() {}

    public func execute(_ work: consuming @escaping Work) {
        if let running = unsafe ec_job_queue() {
            unsafe running.assumingMemoryBound(to: WorkQueue.self).pointee.append(work)
        } else {
            Self.run(work)
        }
    }

    public func enqueue(_ work: consuming @escaping Work) {
        let work = MovedWork(consume work)
        GlobalContext().execute { execute { work.run() } }
    }

    /// Yes inside a job of a trampoline on this thread, no elsewhere.
    public var isCurrent: Bool? { unsafe ec_job_queue() != nil }

    public var name: String { "trampoline" }

    public var runsAnywhere: Bool { true }

    private static func run(_ work: consuming @escaping Work) {
        var queue = WorkQueue()
        // Moved into the queue, so that the job is freed before the jobs that it submits run (law
        // 10).
        queue.append(work)
        // The queue lives in this stack frame, and the thread-local pointer is cleared before it
        // ends.
        unsafe withUnsafeMutablePointer(to: &queue) { queue in
            unsafe ec_set_job_queue(queue)
            defer { ec_set_job_queue(nil) }
            while let next = unsafe queue.pointee.popFirst() { next() }
        }
    }
}

extension ExecutionContext where Self == TrampolineContext {
    /// Runs work on the caller, nested work after the running job (law 5).
    public static var trampoline: TrampolineContext { TrampolineContext() }
}
