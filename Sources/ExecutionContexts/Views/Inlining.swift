internal import Synchronization

/// Runs a job of a view inline if the caller is on the base already and no earlier job waits.
public struct InlineIfCurrent: HoldableAddition {
    /// Nil until it is attached to a base.
    fileprivate var inlining: Inlining?

    public func attached(to base: some ExecutionContext) -> InlineIfCurrent {
        InlineIfCurrent(inlining: Inlining(over: base))
    }

    public func decorate(_ work: @escaping Work) -> Work { inlining?.counted(work) ?? work }

    public var runsAnywhere: Bool { true }

    public var facts: AdditionFacts {
        var facts = AdditionFacts.plain
        facts.inlining = inlining
        return facts
    }
}

/// Decides which jobs of a view run inline, and runs them.
///
/// The caller may be in a job of the base that no view of it has seen. So what the views in between
/// add applies to an inline job as well: a section, a thread-local value, what `decorate` adds.
final class Inlining: Sendable {
    private let base: any ExecutionContext
    private let waiting = WaitingCount()
    /// Nil if the base adds nothing to a job.
    private let additions: InlineAdditions?
    /// Whether a job is isolated to the main actor: a holder of main may be on another thread.
    private let needsMain: Bool

    init(over base: some ExecutionContext) {
        self.base = base
        additions = InlineAdditions(of: base)
        needsMain = base is any MainActorContext
    }

    /// Whether a job that is submitted now runs inline.
    var isNow: Bool {
        SimulationHooks.look()
        // Acquiring is enough, sequential consistency would not help: only the submissions of this
        // thread, and of threads that happen before it, must be seen, and they are visible (law 6).
        return waiting.value.load(ordering: .acquiring) == 0 && base.isCurrent == true
            && (!needsMain || QueueMark.isCallerOnMain) && additions?.skipsNow != true
    }

    func run(_ work: consuming @escaping Work) {
        guard let additions else { return work() }
        additions.adding(to: consume work)()
    }

    /// Counts a job as waiting until it starts, or is freed.
    func counted(_ work: @escaping Work) -> Work {
        let entry = CompletionGuard(WaitingJob(count: waiting))
        return {
            entry.run()
            work()
        }
    }
}

/// How many jobs a view has accepted that have not started.
private final class WaitingCount: Sendable {
    let value = Atomic<Int>(0)
}

/// A counted job. Its guard has no scheduling point; the changes of the count have one.
private struct WaitingJob: GuardedJob {
    let count: WaitingCount

    init(count: WaitingCount) {
        self.count = count
        SimulationHooks.point()
        count.value.add(1, ordering: .acquiringAndReleasing)
    }

    func run() {
        SimulationHooks.point()
        count.value.subtract(1, ordering: .acquiringAndReleasing)
    }

    func drop() { run() }
}

/// What a context, and the views that it consists of, add to a job that runs inline.
package struct InlineAdditions: Sendable {
    /// The outermost view first.
    private var adding: [@Sendable (@escaping Work) -> Work] = []
    private var skipping: [@Sendable () -> Bool] = []

    /// Nil if the context and its views add nothing.
    package init?(of context: some ExecutionContext) {
        var view = context.facts.view
        while let next = view {
            if let skipsNow = next.skipsNow {
                skipping.append(skipsNow)
            } else if next.addsInline, let decorate = next.decorate {
                adding.append(decorate)
            }
            view = next.base.facts.view
        }
        if adding.isEmpty && skipping.isEmpty { return nil }
    }

    /// Whether a view skips jobs at this moment: then the job is submitted instead of run inline,
    /// and the view answers the submitter.
    package var skipsNow: Bool { skipping.contains { $0() } }

    package func adding(to work: @escaping Work) -> Work { adding.reduce(work) { $1($0) } }
}

extension ContextAddition where Self == InlineIfCurrent {
    /// Runs a job of the context inline if its submitter is on it (law 6).
    public static var inlineIfCurrent: InlineIfCurrent { InlineIfCurrent() }
}

extension ExecutionContext {
    /// Returns a view of this context that runs a job inline if its submitter is on it (law 6).
    ///
    /// A job runs inline only if `isCurrent` is certainly true and no job that this view accepted
    /// earlier is waiting. Keep one view and submit through it: the view does not see jobs that are
    /// submitted to the base directly. An inline job is a part of the job that submitted it.
    ///
    /// Barriers never run inline: the job that submits a barrier would run beside it. Nor do jobs
    /// of actors and parts of tasks.
    public func inlineIfCurrent() -> ContextView<Self, InlineIfCurrent> { with(.inlineIfCurrent) }
}
