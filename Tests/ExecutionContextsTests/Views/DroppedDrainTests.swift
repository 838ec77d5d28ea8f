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
