/// What a view adds to the jobs of a context.
///
/// Say what yours adds, and make a view by `context.with(_:)`:
///
/// ```swift
/// struct Counting: ContextAddition {
///     let counter: Counter
///     func decorate(_ work: @escaping Work) -> Work { { counter.increment(); work() } }
/// }
/// let queue = SerialQueueContext(name: "database").with(Counting(counter: Counter()))
/// queue.sync { print("counted") }
/// ```
///
/// The view keeps every power of its context (law 8): order, barriers, refusal, main-actor
/// closures, `sync`, and being the executor of an actor. What the addition does to a job it does to
/// the body of a `sync` as well. A hold runs no job: if a view with this addition may be held all
/// the same, conform to ``HoldableAddition``. Every requirement has a default.
public protocol ContextAddition: Sendable {
    /// Returns the job that the context runs in place of `work`. The default returns `work`.
    ///
    /// It is called once for each submission, on the submitter, and once for each job that
    /// `inlineIfCurrent()` runs on the spot. The job that it returns must run `work` once, before
    /// it returns, on the thread that runs it (laws 1, 4).
    func decorate(_ work: @escaping Work) -> Work

    /// Returns the addition that a new view of `base` has. The default returns this one.
    ///
    /// It is called once for each view: make here what each view owns, such as a counter.
    func attached(to base: some ExecutionContext) -> Self

    /// The name of a view of a context with this name. The default returns `base`.
    func name(of base: String) -> String

    /// Runs the body of a `sync` on `base`, and returns when it has run. The default runs what
    /// `decorate` returns for it; an addition that needs no escaping closure does it for less.
    func sync<Value, Failure: Error>(
        _ body: () throws(Failure) -> Value, on base: some SynchronousContext
    ) throws(Failure) -> Value

    /// Binds to a job what it needs of its submitter, if `decorate` does that; nil by default. See
    /// ``ExecutionContext/submissionTransform``.
    var submissionTransform: (@Sendable (_ work: @escaping Work) -> Work)? { get }

    /// Whether a job may run without what this adds, where a waiting thread runs it itself; false
    /// by default. See ``ExecutionContext/runsAnywhere``.
    var runsAnywhere: Bool { get }

    /// What this library knows of its own additions; leave it out in one of your own.
    var facts: AdditionFacts { get }
}

extension ContextAddition {
    public func decorate(_ work: @escaping Work) -> Work { work }

    public func attached(to base: some ExecutionContext) -> Self { self }

    public func name(of base: String) -> String { base }

    public func sync<Value, Failure: Error>(
        _ body: () throws(Failure) -> Value, on base: some SynchronousContext
    ) throws(Failure) -> Value {
        // Unsafe in name only: the caller waits while the base runs the body, maybe on another
        // thread, and neither body nor result outlives the call.
        nonisolated(unsafe) var result: Result<Value, Failure>?
        withoutActuallyEscaping({ unsafe result = Result(catching: body) }) { work in
            nonisolated(unsafe) let work = work  // The caller waits for it.
            let decorated = decorate { unsafe work() }
            base.sync(decorated)
        }
        guard let result = unsafe result else {
            stopMisuse(
                "The addition \(Self.self) dropped work that a caller of '\(base.name)' waits for (law 1). Its decorate "
                    + "must run the work that it is given, before its own job returns.")
        }
        return try result.get()
    }

    public var submissionTransform: (@Sendable (_ work: @escaping Work) -> Work)? { nil }

    public var runsAnywhere: Bool { false }

    public var facts: AdditionFacts { AdditionFacts() }
}

/// An addition whose views can be held, and run bodies exclusively, where their contexts can.
///
/// A hold runs no job, so `decorate` does nothing to it. Conform if exclusive access without this
/// addition breaks nothing. An addition that excludes other code must not conform.
public protocol HoldableAddition: ContextAddition {
    /// Holds `base` for a view with this addition. The default only does that.
    func hold(_ base: some SynchronousBarrierContext) -> ExclusiveHold
}

extension HoldableAddition {
    public func hold(_ base: some SynchronousBarrierContext) -> ExclusiveHold { base.hold() }
}

/// What the library knows of an addition of its own.
public struct AdditionFacts: Sendable {
    /// Whether it does to a job that runs inline, as a part of another job, what it does to others.
    package var addsInline = true
    /// Whether what it adds depends on the thread of the job.
    package var needsThread = true
    /// The label that it adds to jobs.
    package var label: String?
    /// Whether its `sync` reads the source of the body by itself.
    package var readsSource = false
    /// Reports a body that a waiting thread runs in place of a job.
    package var report: ContextFacts.Reporting?
    /// Adds to the forecast of a view of `base` what the addition knows, and follows the base.
    package var forecast: (@Sendable (_ base: any ExecutionContext, inout WaitForecast) -> Void)?
    /// Decides which jobs run inline.
    var inlining: Inlining?

    /// Nothing is known.
    public init() {}

    /// Of an addition that does nothing to a job that runs inline, and needs no certain thread.
    package static var plain: AdditionFacts {
        var facts = AdditionFacts()
        facts.addsInline = false
        facts.needsThread = false
        return facts
    }
}
