internal import Synchronization

/// A context that runs work on the spot where the caller is there already and nothing waits before it.
///
/// The caller may be in a job of the base that no view of it has seen. So what the views between add to their work is
/// added here, too: a section, a value of a thread-local, whatever a `decorate` does.
final class InlineIfCurrent<Base: ExecutionContext>: ContextDecorator {
    let base: Base
    /// How much of what this view has accepted has not started yet.
    private let waiting = Atomic<Int>(0)
    /// Nil if the base adds nothing.
    private let additions: InlineAdditions?

    init(base: Base) {
        self.base = base
        additions = InlineAdditions(of: base)
    }

    func execute(_ work: consuming @escaping Work) {
        if runsInline { return runInline(consume work) }
        let decorated = LooseWork(decorate(consume work))
        base.execute(decorated.assembled())
    }

    func execute(_ work: consuming @escaping Work, refused: @escaping @Sendable (Refusal) -> Void) {
        if runsInline { return runInline(consume work) }
        let ticket = Waiting(waiting: self)
        let counted = LooseWork(ticket.counted(consume work))
        base.execute(counted.assembled()) { refusal in
            ticket.end()
            refused(refusal)
        }
    }

    var runsAnywhere: Bool { base.runsAnywhere }

    func decorate(_ work: @escaping Work) -> Work { Waiting(waiting: self).counted(work) }

    private var runsInline: Bool {
        // Sequentially consistent would not help: only what this thread, or one that happens before it,
        // has submitted needs to be seen, and that is visible already (law 6).
        waiting.load(ordering: .acquiring) == 0 && base.isCurrent == true && additions?.skipsNow != true
    }

    private func runInline(_ work: consuming @escaping Work) {
        guard let additions else { return work() }
        additions.adding(to: consume work)()
    }

    /// One piece that waits; it stops waiting when it starts, is refused or is let go.
    private final class Waiting: Sendable {
        private let view: InlineIfCurrent
        private let hasEnded = Atomic<Bool>(false)

        init(waiting view: InlineIfCurrent) {
            self.view = view
            Seam.point()
            view.waiting.add(1, ordering: .acquiringAndReleasing)
        }

        deinit { end() }

        func counted(_ work: @escaping Work) -> Work {
            {
                self.end()
                work()
            }
        }

        // Relaxed: only that it happens once matters. The count's own changes acquire and release.
        func end() {
            guard !hasEnded.exchange(true, ordering: .relaxed) else { return }
            Seam.point()
            view.waiting.subtract(1, ordering: .acquiringAndReleasing)
        }
    }
}

/// What a context and the views that it consists of add to a job that runs on the spot.
package struct InlineAdditions: Sendable {
    /// The outermost first.
    private var adding: [any ContextDecorator] = []
    private var skipping: [any SkippingView] = []

    /// Nil if they add nothing.
    package init?(of context: some ExecutionContext) {
        collect(context)
        if adding.isEmpty && skipping.isEmpty { return nil }
    }

    /// Whether a view skips its work now. Then the job is submitted, and the view answers its submitter.
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

/// A view that adds nothing to a job that runs on the spot, as a part of another job.
protocol PlainView: ContextDecorator {}

extension InlineIfCurrent: PlainView {}
extension Named: PlainView {}
// An observer is told of the job that it is a part of.
extension Attended: PlainView {}
// They count the jobs that wait.
extension Bounded: PlainView {}

extension InlineIfCurrent: BarrierContext where Base: BarrierContext {}
extension InlineIfCurrent: SerialContext where Base: SerialContext {}
extension InlineIfCurrent: ActorBackingContext where Base: ActorBackingContext {}
extension InlineIfCurrent: SynchronousContext where Base: SynchronousContext {}
extension InlineIfCurrent: SynchronousBarrierContext where Base: SynchronousBarrierContext {}
extension InlineIfCurrent: RefusingContext where Base: RefusingContext {
    func tryExecute(_ work: consuming @escaping Work) throws(Refusal) {
        if runsInline { return runInline(consume work) }
        let decorated = LooseWork(decorate(consume work))
        try base.tryExecute(decorated.assembled())
    }
}

extension ExecutionContext {
    /// This context, but work submitted from itself runs at once, where order allows (law 6).
    ///
    /// It runs inline only where `isCurrent` is a certain yes and nothing that this view accepted earlier is
    /// still waiting. Keep one view and submit through it: what is submitted to the base directly is not
    /// seen. Work that runs inline is a part of the piece that submitted it.
    public func inlineIfCurrent() -> some ExecutionContext { InlineIfCurrent(base: self) }
}

extension BarrierContext {
    /// This context, but work submitted from itself runs at once, where order allows (law 6).
    ///
    /// Barriers never run inline: the piece that submits one would run beside it.
    public func inlineIfCurrent() -> some BarrierContext { InlineIfCurrent(base: self) }
}

extension SerialContext {
    /// This context, but work submitted from itself runs at once, where order allows (law 6).
    public func inlineIfCurrent() -> some SerialContext { InlineIfCurrent(base: self) }
}

extension ActorBackingContext {
    /// This context, but work submitted from itself runs at once, where order allows (law 6).
    public func inlineIfCurrent() -> some ActorBackingContext { InlineIfCurrent(base: self) }
}
