package import Dispatch

/// What the library knows of a context beyond its protocols.
///
/// A context outside of this library leaves it out. What is not known of a context is looked for at
/// the time of use, or is assumed to be the worst: that costs time, and breaks no law.
/// `ContextDecorator` and `ContextView` report the base of a view, and whether it may run jobs
/// inline or skip them.
public struct ContextFacts: Sendable {
    /// Whether the context always runs each job once, so that a drain on it needs no guard.
    package var isReliable = false
    /// Whether `time` is `SystemTime.ofCaller`, always. All threads share that object: to retain it
    /// for each job has all of them write to one word.
    package var hasSystemTime = false
    /// Whether its jobs mean a certain thread (law 4); nil if that is not known.
    package var meansThread: Bool?
    /// The label that it adds to its jobs. A view that reads labels gets a job before the label is
    /// added, and adds the label itself.
    package var label: String?
    /// Whether `sync` reads the source of its body before it runs any other code.
    package var takesSource = false
    /// Of a view: what it is a view of, and what it does to jobs.
    package var view: ViewFacts?
    /// Adds to a forecast whether its jobs can run while the caller waits for one of them.
    package var forecast: (@Sendable (inout WaitForecast) -> Void)?
    /// Raises the priority of its pending jobs, which run in a task.
    package var raise: (@Sendable (TaskPriority) -> Void)?
    /// Runs a job in order, even if the base drops the drain of this view: for the jobs of tasks
    /// and actors, which cannot be dropped (law 13).
    package var runWithoutBase: (@Sendable (@escaping Work) -> Void)?
    /// Whether `execute` may run a job inline, as a part of the caller's job: no part of a task or
    /// of an actor may run so.
    package var mayInline = false
    /// Runs a body that a waiting thread runs in place of a job, and reports it as the views on the
    /// way do; nil if none does.
    package var report: Reporting?
    /// The dispatch queue on which its jobs run, with nothing added to them.
    package var queue: DispatchQueue?

    package typealias Reporting = @Sendable (_ source: JobSource, _ body: () -> Void) -> Void

    /// Nothing is known.
    public init() {}

    /// Only the forecast is known.
    package init(forecast: @escaping @Sendable (inout WaitForecast) -> Void) {
        self.forecast = forecast
    }

    /// What is known of each decorator.
    package init(decorator: some ContextDecorator) {
        var view = ViewFacts(of: decorator.base)
        view.decorate = { decorator.decorate($0) }
        self.view = view
        inherit(from: decorator.base.facts)
    }

    /// Takes over what is known of the base of a view that passes each job on to it.
    mutating func inherit(from base: ContextFacts) {
        label = label ?? base.label
        report = base.report
        mayInline = mayInline || base.mayInline
    }

    /// What is known of a view that counts the waiting jobs of `base`.
    static func boundedView(of base: some ExecutionContext) -> ContextFacts {
        var facts = ContextFacts()
        facts.view = ViewFacts(of: base)
        facts.meansThread = base.jobsMeanThread
        facts.inherit(from: base.facts)
        return facts
    }
}

/// What a view does to the jobs of its base.
package struct ViewFacts: Sendable {
    package var base: any ExecutionContext
    /// What the view adds to a job.
    package var decorate: (@Sendable (@escaping Work) -> Work)?
    /// Whether it adds that to a job which runs inline, as a part of another job, as well.
    package var addsInline = true
    /// Whether the view would skip a job that starts at this moment; nil if it never skips one.
    package var skipsNow: (@Sendable () -> Bool)?

    package init(of base: some ExecutionContext) { self.base = base }
}

extension ExecutionContext {
    public var facts: ContextFacts { ContextFacts() }

    /// Whether the jobs of this context, or of one that it runs on, mean a certain thread. If so,
    /// the body of a `sync` runs in the job, on that thread; otherwise on the caller's (law 4).
    package var jobsMeanThread: Bool {
        if runsAnywhere { return false }
        let facts = facts
        // A decorator may prepare the thread of the job: a body elsewhere would miss that. A
        // context that is not current for the caller would not be current in the body either.
        return facts.meansThread ?? (facts.view != nil || isCurrent == false)
    }
}
