import Dispatch
import ExecutionContexts
import ExecutionContextsTesting
import Foundation
import TestSupport
import Testing

/// Corner cases of the laws that only combined decorators show.
@Suite(.patient)
struct DecoratorCornerTests {
    @Test func `Law 3: a barrier of a bounded view stays one when submitters overtake each other`()
    {
        // The base delays the first submission until a barrier has been submitted, which makes the
        // race certain.
        let base = OvertakenBase()
        let view = base.bounded(to: 10, overflow: .refuse)
        let wasAlone = Box(false)
        base.duringFirst = { view.executeBarrier { wasAlone.value = base.runsBarrier } }
        view.execute {}
        base.runAll()
        #expect(wasAlone.value)
    }

    @Test func `Law 1: tryExecute of a bounded view throws the refusal of its base`() throws {
        let context = ManualContext()
        let ran = Box(0)
        let view = context.bounded(to: 1, overflow: .refuse).bounded(to: 2, overflow: .refuse)
        for round in 1...3 {
            try view.tryExecute { ran.withValue { $0 += 1 } }
            // More often than there is room: a refused job leaves the room.
            for _ in 0..<5 { #expect(throws: Refusal.self) { try view.tryExecute {} } }
            context.runReady()
            #expect(ran.value == round)
        }
        let token = InvalidationToken()
        let gated = context.valid(while: token).bounded(to: 2, overflow: .refuse)
        token.invalidate()
        #expect(throws: Refusal.self) { try gated.tryExecute {} }
    }

    @Test func `Law 1: tryExecute of a view with a token throws the refusal of its base`() async {
        await #expect(processExitsWith: .success) {
            let base = ManualContext().bounded(to: 1, overflow: .refuse)
            let view = base.valid(while: InvalidationToken())
            try view.tryExecute {}
            do {
                try view.tryExecute {}
                fatalError("It was accepted.")
            } catch let refusal as Refusal {
                precondition(refusal.reason == .full(capacity: 1))
            }
        }
    }

    @Test(arguments: [Decorator.limited, .barrier])
    func `Law 3: jobs start in order after a barrier, over an inline base too`(
        _ decorator: Decorator
    ) throws {
        let view = try #require(decorator.apply(.immediate) as? any BarrierContext)
        let order = Box<[Int]>([])
        view.executeBarrier {
            for index in 0..<5 { view.execute { order.withValue { $0.append(index) } } }
        }
        #expect(order.value == [0, 1, 2, 3, 4])
    }

    @Test func `Law 5: many jobs behind a barrier do not nest on the stack of an inline base`()
        async
    {
        await #expect(processExitsWith: .success) {
            let view = ImmediateContext().barrier()
            let count = Box(0)
            view.executeBarrier {
                for _ in 0..<100_000 { view.execute { count.withValue { $0 += 1 } } }
            }
            precondition(count.value == 100_000)
        }
    }

    @Test(arguments: [Decorator.serial, .limited, .barrier])
    func `Law 1: a view over a full base runs the jobs that it has accepted`(
        _ decorator: Decorator
    ) async throws {
        let manual = ManualContext()
        let full = ClosureContext { manual.execute($0) }.bounded(to: 1, overflow: .refuse)
        try full.tryExecute {}
        let view = try #require(decorator.apply(full))
        let ran = Box(0)
        // The view has accepted the job, so its drain enters the base above the capacity.
        view.execute { ran.withValue { $0 += 1 } }
        manual.runReady()
        view.execute { ran.withValue { $0 += 1 } }
        manual.runReady()
        #expect(ran.value == 2)
    }

    @Test func `Law 8: a policy that would let jobs pass a barrier traps when the view is made`()
        async
    {
        await #expect(processExitsWith: .failure) {
            let hidden: any ExecutionContext = .barrier(named: "hidden")
            _ = hidden.bounded(to: 1, overflow: .dropOldest(notify: { _ in }))
        }
        await #expect(processExitsWith: .failure) {
            let hidden: any ExecutionContext = .serial(named: "hidden")
            _ = hidden.bounded(to: 1, overflow: .callerRuns)
        }
    }

    @Test func `Law 10: an operation queue outlives the jobs that its context drops`() async {
        await #expect(processExitsWith: .success) {
            let manual = ManualContext()
            let token = InvalidationToken()
            do {
                let queue = manual.valid(while: token).operationQueue
                queue.addOperation {}
                token.invalidate()
            }
            manual.runReady()
        }
    }
}

/// Runs its jobs in `runAll`, and knows whether the running one was submitted as a barrier.
private final class OvertakenBase: BarrierContext {
    private struct State {
        var waiting: [(work: Work, isBarrier: Bool)] = []
        var runsBarrier = false
        var duringFirst: Work?
    }

    private let state = Box(State())

    var runsBarrier: Bool { state.value.runsBarrier }

    /// Runs at the first submission, before that job is queued.
    var duringFirst: Work? {
        get { state.value.duringFirst }
        set { state.withValue { $0.duringFirst = newValue } }
    }

    func execute(_ work: @escaping Work) {
        state.withValue { $0.duringFirst.take() }?()
        state.withValue { $0.waiting.append((work, false)) }
    }

    func executeBarrier(_ work: @escaping Work) {
        state.withValue { $0.waiting.append((work, true)) }
    }

    func runAll() {
        for (work, isBarrier) in state.value.waiting {
            state.withValue { $0.runsBarrier = isBarrier }
            work()
        }
    }
}
