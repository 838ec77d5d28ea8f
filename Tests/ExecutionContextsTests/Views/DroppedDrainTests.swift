import ExecutionContexts
import TestSupport
import Testing

/// Views over a base that drops each drain at once.
@Suite(.patient)
struct DroppedDrainTests {
    enum Kind: CaseIterable { case serial, limited, barrier }

    @Test(arguments: Kind.allCases)
    func `Law 5: drains that are dropped on the spot do not nest on the stack`(_ kind: Kind) async {
        let left = Box(100_000)
        await onSmallStack {
            let view: any ExecutionContext =
                switch kind {
                case .serial: Dropping().serial()
                case .limited: Dropping().limited(to: 2)
                case .barrier: Dropping().barrier()
                }
            view.execute(Link(view, left).job)
        }
        #expect(left.value == 0)
    }

    @Test func `Law 1: a base that drops a drain may wait for its own job of the view`() async {
        let answers = Box(0)
        await offThePool {
            let base = WaitingBase(answers)
            let view = base.serial()
            base.view.value = view
            view.execute(Link(view, Box(2)).job)
            base.view.value = nil
        }
        #expect(answers.value == 1)
    }

    @Test func `A drain that is requested after a drop has no submitter`() async {
        let submitters = Box<[Bool]>([])
        let view = Dropping().observed(by: Submitters(submitters)).serial()
        view.execute(Link(view, Box(3)).job)
        #expect(submitters.value == [false, false, false])
    }
}

/// Drops each drain; when it has dropped the second one, it waits for a job of the view.
private final class WaitingBase: ExecutionContext {
    let view = Box<SerialView?>(nil)
    private let calls = Box(0)
    private let answers: Box<Int>

    init(_ answers: Box<Int>) { self.answers = answers }

    func execute(_ work: consuming @escaping Work) {
        Dropping().execute(consume work)
        guard
            calls.withValue({
                $0 += 1; return $0
            }) == 2
        else { return }
        do { try view.value?.submit {}.wait() } catch { answers.withValue { $0 += 1 } }
    }
}

/// Notes whether each job has a submitter.
private struct Submitters: ContextObserver {
    private let noted: Box<[Bool]>

    init(_ noted: Box<[Bool]>) { self.noted = noted }

    func enqueued(_ job: ObservedWork) { noted.withValue { $0.append(job.submitter != nil) } }
    func started(_ job: ObservedWork, waited: Duration) {}
    func finished(_ job: ObservedWork, waited: Duration, ran: Duration) {}
    func abandoned(_ job: ObservedWork, waited: Duration) {}
}

private struct Dropping: ExecutionContext {
    func execute(_ work: consuming @escaping Work) {}
}

/// Submits another one when it is dropped.
private final class Link: Sendable {
    private let view: any ExecutionContext
    private let left: Box<Int>

    init(_ view: any ExecutionContext, _ left: Box<Int>) { (self.view, self.left) = (view, left) }

    /// A job that has the only reference.
    var job: Work { { _ = self } }

    deinit {
        guard
            left.withValue({
                $0 -= 1; return $0 > 0
            })
        else { return }
        view.execute(Link(view, left).job)
    }
}
