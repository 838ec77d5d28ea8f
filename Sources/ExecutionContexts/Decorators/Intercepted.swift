/// A view that reports submission, start and end of each job to an interceptor.
///
/// `observed` and `watched` are made of it.
struct Intercepted<Base: ExecutionContext, ConcreteInterceptor: Interceptor>: ContextDecorator {
    let base: Base
    let interceptor: ConcreteInterceptor

    func decorate(_ work: @escaping Work) -> Work {
        let job = begin()
        return { job.run(work) }
    }

    // For a job that a waiting thread took over, the interceptor sees an empty job.
    var runsAnywhere: Bool { base.runsAnywhere }

    private func begin() -> ConcreteInterceptor.Job { interceptor.begin(in: name, by: time) }
}

/// What follows the jobs of a context.
protocol Interceptor: Sendable {
    associatedtype Job: InterceptedJob
    /// Starts following a job that is submitted to the context of that name and time.
    func begin(in context: String, by time: any TimeSource) -> Job
}

/// A followed job. A context that drops the job releases it.
protocol InterceptedJob: Sendable {
    associatedtype Start: Sendable
    /// The job is about to run.
    func started() -> Start
    /// The job has run.
    func ended(_ start: Start)
    /// Runs `body` as this job.
    func run<Value, Failure: Error>(_ body: () throws(Failure) -> Value) throws(Failure) -> Value
}

extension Intercepted: BarrierContext where Base: BarrierContext {}
extension Intercepted: SerialContext where Base: SerialContext {}
extension Intercepted: ActorBackingContext where Base: ActorBackingContext {}
extension Intercepted: RefusingContext where Base: RefusingContext {}
extension Intercepted: SynchronousContext where Base: SynchronousContext {
    func sync<Value, Failure: Error>(
        _ body: () throws(Failure) -> Value
    ) throws(Failure) -> Value {
        let job = begin()
        return try base.sync { () throws(Failure) -> Value in try job.run(body) }
    }
}
extension Intercepted: SynchronousBarrierContext where Base: SynchronousBarrierContext {
    func syncBarrier<Value, Failure: Error>(
        _ body: () throws(Failure) -> Value
    ) throws(Failure) -> Value {
        let job = begin()
        return try base.syncBarrier { () throws(Failure) -> Value in try job.run(body) }
    }

    func hold() -> ExclusiveHold {
        let job = begin()
        let hold = base.hold()
        let start = job.started()
        return hold.then { job.ended(start) }
    }
}
