internal import CPlatform

/// Runs work on the caller, before `execute` returns, also when calls nest (law 5).
///
/// Delayed work has no caller to run on: it runs on the global context (law 7). A chain of
/// callbacks that each submit the next one nests the stack; on `.trampoline` it does not.
@frozen
public struct ImmediateContext: SynchronousContext {
    /// Makes the context; all are alike.
    @inlinable
    public init() {}

    @inlinable
    public func execute(_ work: @escaping Work) { work() }

    public func enqueue(_ work: consuming @escaping Work) { GlobalContext().execute(consume work) }

    @inlinable
    public func sync<Value, Failure: Error>(
        _ body: () throws(Failure) -> Value
    ) throws(Failure) -> Value { try body() }

    /// Always yes: the work runs where the caller runs.
    public var isCurrent: Bool? { true }

    public var name: String { "immediate" }

    public var runsAnywhere: Bool { true }

    public var facts: ContextFacts {
        var facts = ContextFacts()
        facts.hasSystemTime = true
        return facts
    }
}

extension ExecutionContext where Self == ImmediateContext {
    /// Runs work on the caller, before `execute` returns (law 5).
    @inlinable
    public static var immediate: ImmediateContext { ImmediateContext() }
}

/// Runs work on the caller like `.immediate`, but queues nested work behind the job (law 5).
///
/// A chain of a million jobs, each submitted by the one before, needs no more stack than one job.
/// Work that a job submits has run when the outermost `execute` returns. Each thread has its own
/// queue.
public struct TrampolineContext: ExecutionContext {
    /// Makes the context; all are alike.
    public init() {}

    public func execute(_ work: consuming @escaping Work) {
        if let running = unsafe ec_job_queue() {
            return unsafe running.assumingMemoryBound(to: WorkQueue.self).pointee.append(work)
        }
        var queue = WorkQueue()
        // Moved, so that the job is freed before the jobs that it submits run (law 10).
        queue.append(work)
        // The thread-local pointer is cleared before this frame, which has the queue, ends.
        unsafe withUnsafeMutablePointer(to: &queue) { queue in
            unsafe ec_set_job_queue(queue)
            defer { ec_set_job_queue(nil) }
            while let next = unsafe queue.pointee.popFirst() { next() }
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
}

extension ExecutionContext where Self == TrampolineContext {
    /// Runs work on the caller, nested work after the running job (law 5).
    public static var trampoline: TrampolineContext { TrampolineContext() }
}
