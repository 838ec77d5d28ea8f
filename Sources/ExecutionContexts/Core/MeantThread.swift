/// A context that knows whether its jobs mean a certain thread (law 4).
///
/// If they do, the body of a `sync` runs in the job, on that thread; otherwise on the caller's.
package protocol ThreadMeaningContext: ExecutionContext {
    var meansThread: Bool { get }
}

extension ThreadMeaningContext where Self: ContextDecorator {
    // What this decorator adds to a job does not depend on the thread of the job.
    package var meansThread: Bool { base.jobsMeanThread }
}

extension ExecutionContext {
    /// Whether the jobs of this context, or of one that it runs on, mean a certain thread.
    package var jobsMeanThread: Bool {
        if runsAnywhere { return false }
        if let context = self as? any ThreadMeaningContext { return context.meansThread }
        // Another decorator may prepare the thread of the job: a body elsewhere would miss that. A
        // context that is sure not to be current for the caller would say so in the body, too.
        return self is any ContextDecorator || isCurrent == false
    }
}
