import Dispatch
import ExecutionContexts
import TestSupport
import Testing

/// Law 10: what a context drops is freed where it is dropped, and not later by the thread that
/// submitted it, which would free it beside other jobs.
@Suite(.patient)
struct DroppedPlaceTests {
    enum Submission: CaseIterable, Sendable {
        case execute, refusable, barrier, enqueue, delayed, repeated
    }

    /// The last three request a drain for the job, and drop it when the drain is dropped.
    enum View: CaseIterable, Sendable {
        case none, observed, propagating, named, valid, refusing, waiting, inline, twice, oldest,
            limited, barrier

        func apply(to base: Discarder) -> any ExecutionContext {
            switch self {
            case .none: base
            case .observed: base.observed(by: Ignorer())
            case .propagating: base.propagating(Bound.$value)
            case .named: base.named("named")
            case .valid: base.valid(while: InvalidationToken())
            case .refusing: base.bounded(to: 10, overflow: .refuse)
            case .waiting: base.bounded(to: 10, overflow: .wait)
            case .oldest: Plain(base: base).bounded(to: 10, overflow: .dropOldest(notify: { _ in }))
            case .limited: base.limited(to: 2)
            case .barrier: base.barrier()
            case .inline: base.inlineIfCurrent()
            case .twice: base.bounded(to: 10, overflow: .refuse).observed(by: Ignorer())
            }
        }
    }

    @Test(arguments: Submission.allCases, View.allCases)
    func `Law 10: a job that the base drops is freed by then`(
        _ submission: Submission, _ view: View
    ) {
        let base = Discarder()
        let context = view.apply(to: base)
        switch submission {
        case .execute: context.execute(base.job())
        case .refusable: context.execute(base.job(), refused: { _ in })
        case .barrier:
            guard let context = context as? any BarrierContext else { return }
            context.executeBarrier(base.job())
        case .enqueue: context.enqueue(base.job())
        case .delayed: context.schedule(after: .zero, base.job())
        case .repeated:
            // The job of a repetition is kept until it is cancelled.
            let repetition = context.schedule(every: .nanoseconds(1), base.job())
            base.wait()
            #expect(repetition.cancel())
            return #expect(base.isFreed)
        }
        base.wait()
        #expect(base.wasFreedInside)
    }
}

private enum Bound { @TaskLocal static var value = 0 }

private struct Ignorer: ContextObserver {
    func finished(_ job: ObservedWork, waited: Duration, ran: Duration) {}
}

/// Hides that its base keeps barriers.
private struct Plain<Base: ExecutionContext>: ContextDecorator {
    let base: Base
}

/// Drops each job, and looks whether that has freed what the job captures.
final class Discarder: BarrierContext {
    private let freed = Box(false)
    private let inside = Box(false)
    private let dropped = DispatchSemaphore(value: 0)

    private final class Capture: Sendable {
        let freed: Box<Bool>
        init(_ freed: Box<Bool>) { self.freed = freed }
        deinit { freed.value = true }
    }

    func job() -> Work {
        let capture = Capture(freed)
        return { withExtendedLifetime(capture) {} }
    }

    func execute(_ work: consuming @escaping Work) { drop(consume work) }
    func executeBarrier(_ work: consuming @escaping Work) { drop(consume work) }
    func enqueue(_ work: consuming @escaping Work) { drop(consume work) }

    private func drop(_ work: consuming @escaping Work) {
        discard(consume work)
        inside.value = freed.value
        dropped.signal()
    }

    private func discard(_ work: consuming @escaping Work) {}

    func wait() { dropped.wait() }
    var wasFreedInside: Bool { inside.value }
    var isFreed: Bool { freed.value }
}
