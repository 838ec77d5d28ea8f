internal import Synchronization

/// A view that runs a job inline if the caller is on the base already and no earlier job waits.
///
/// The caller may be in a job of the base that no view of it has seen. So the additions of the
/// views in between apply to an inline job as well: a section, a thread-local value, or
/// what `decorate` adds.
@usableFromInline
final class InlineIfCurrent<Base: ExecutionContext>: SourcePassing {
    @usableFromInline
    let base: Base
    /// The number of jobs that this view has accepted and that have not started.
    private let waiting = WaitingCount()
    /// Nil if the base adds nothing to a job.
    private let additions: InlineAdditions?
    /// Whether a job is isolated to the main actor: a holder of main may be on another thread.
    private let needsMain: Bool

    @usableFromInline
    init(base: Base) {
        self.base = base
        additions = InlineAdditions(of: base)
        needsMain = base is any MainActorContext
    }

    @usableFromInline
    func execute(_ work: consuming @escaping Work) {
        if runsInline { return runInline(consume work) }
        let decorated = JobSource.keep(of: consume work) { decorate($0) }
        base.execute(decorated.assembled())
    }

    @usableFromInline
    func execute(
        _ work: consuming @escaping Work, refused: consuming @escaping @Sendable (Refusal) -> Void
    ) {
        if runsInline { return runInline(consume work) }
        let entry = counting()
        let counted = JobSource.keep(of: consume work) { Self.counted($0, entry) }
        base.execute(
            counted.assembled(), refused: Self.counted(refusal: consume refused, consume entry))
    }

    @usableFromInline
    var runsAnywhere: Bool { base.runsAnywhere }

    @usableFromInline
    func decorate(_ work: @escaping Work) -> Work { Self.counted(work, counting()) }

    private static func counted(
        _ work: @escaping Work, _ entry: CompletionGuard<WaitingJob>
    ) -> Work {
        {
            entry.run()
            work()
        }
    }

    // A function of its own, so that no frame keeps `refused` (law 10).
    private static func counted(
        refusal: @escaping @Sendable (Refusal) -> Void, _ entry: CompletionGuard<WaitingJob>
    ) -> @Sendable (Refusal) -> Void {
        {
            entry.refuse($0)
            refusal($0)
        }
    }

    private var runsInline: Bool {
        SimulationHooks.look()
        // Acquiring is enough, sequential consistency would not help: only the submissions of this
        // thread, and of threads that happen before it, must be seen, and they are visible (law 6).
        return waiting.value.load(ordering: .acquiring) == 0 && base.isCurrent == true
            && (!needsMain || QueueMark.isCallerOnMain) && additions?.skipsNow != true
    }

    private func runInline(_ work: consuming @escaping Work) {
        guard let additions else { return work() }
        additions.adding(to: consume work)()
    }

    /// Counts a job as waiting until its guard is run, which is when the job starts.
    private func counting() -> CompletionGuard<WaitingJob> {
        CompletionGuard(WaitingJob(count: waiting))
    }
}

/// How many jobs a view has accepted that have not started.
private final class WaitingCount: Sendable {
    let value = Atomic<Int>(0)
}

/// A counted job. Its guard has no scheduling point; the changes of the count have one.
///
/// Not nested in the view: it would be generic, and looked up for each job.
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
    private var adding: [any ContextDecorator] = []
    private var skipping: [any SkippingView] = []

    /// Nil if the context and its views add nothing.
    package init?(of context: some ExecutionContext) {
        collect(context)
        if adding.isEmpty && skipping.isEmpty { return nil }
    }

    /// Whether a view skips jobs at this moment.
    ///
    /// Then the job is submitted instead of run inline, and the view answers the submitter.
    package var skipsNow: Bool { skipping.contains { $0.skipsNow } }

    package func adding(to work: @escaping Work) -> Work { adding.reduce(work) { $1.decorate($0) } }

    private mutating func collect(_ context: some ExecutionContext) {
        guard let view = context as? any ContextDecorator else { return }
        if let view = view as? any SkippingView {
            skipping.append(view)
        } else if !(view is any PlainView) {
            adding.append(view)
        }
        collect(view.base)
    }
}

/// A view that adds nothing to a job that runs inline, as a part of another job.
package protocol PlainView: ContextDecorator, ThreadMeaningContext {}

extension InlineIfCurrent: PlainView {}
extension Named: PlainView {}
// A bounded view counts waiting jobs.
extension Bounded: PlainView {}

extension InlineIfCurrent: BarrierContext where Base: BarrierContext {}
extension InlineIfCurrent: SerialContext where Base: SerialContext {}
extension InlineIfCurrent: MainActorContext where Base: MainActorContext {}
extension InlineIfCurrent: ActorBackingContext where Base: ActorBackingContext {}
extension InlineIfCurrent: SynchronousContext where Base: SynchronousContext {}
extension InlineIfCurrent: SynchronousBarrierContext where Base: SynchronousBarrierContext {}
extension InlineIfCurrent: RefusingContext where Base: RefusingContext {
    @usableFromInline
    func tryExecute(_ work: consuming @escaping Work) throws(Refusal) {
        if runsInline { return runInline(consume work) }
        let decorated = JobSource.keep(of: consume work) { decorate($0) }
        try base.tryExecute(decorated.assembled())
    }
}

extension ExecutionContext {
    /// Returns a view of this context that runs a job inline if its submitter is on it (law 6).
    ///
    /// A job runs inline only if `isCurrent` is certainly true and no job that this view accepted
    /// earlier is waiting. Keep one view and submit through it: the view does not see jobs that are
    /// submitted to the base directly. An inline job is a part of the job that submitted it.
    @inlinable
    public func inlineIfCurrent() -> some ExecutionContext { InlineIfCurrent(base: self) }
}

extension BarrierContext {
    /// Returns a view of this context that runs a job inline if its submitter is on it (law 6).
    ///
    /// Barriers never run inline: the job that submits a barrier would run beside it.
    @inlinable
    public func inlineIfCurrent() -> some BarrierContext { InlineIfCurrent(base: self) }
}

extension SerialContext {
    /// Returns a view of this context that runs a job inline if its submitter is on it (law 6).
    @inlinable
    public func inlineIfCurrent() -> some SerialContext { InlineIfCurrent(base: self) }
}

extension ActorBackingContext {
    /// Returns a view of this context that runs a job inline if its submitter is on it (law 6).
    @inlinable
    public func inlineIfCurrent() -> some ActorBackingContext { InlineIfCurrent(base: self) }
}

extension MainActorContext {
    /// Returns a view of this context that runs a job inline if its submitter is on it (law 6).
    @inlinable
    public func inlineIfCurrent() -> some MainActorContext { InlineIfCurrent(base: self) }
}

extension MainActorContext where Self: ActorBackingContext {
    /// Returns a view of this context that runs a job inline if its submitter is on it (law 6).
    @inlinable
    public func inlineIfCurrent() -> some MainActorContext & ActorBackingContext {
        InlineIfCurrent(base: self)
    }
}
