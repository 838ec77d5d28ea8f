import Dispatch
import ExecutionContexts
import ExecutionContextsTesting
import TestSupport
import Testing

/// Interleavings of two submitters that a stress test meets once in a million runs. Each test
/// builds its interleaving on one thread.
@Suite(.patient)
struct ViewRaceTests {
    @Test
    func `Law 3: a barrier of a bounded view is a barrier of the base, whichever job comes first`()
    {
        let base = RecordingBarrierContext()
        let view = base.bounded(to: 8, overflow: .refuse)
        let wasExclusive = Box<[String: Bool]>([:])
        @Sendable func note(_ job: String) -> Work {
            { wasExclusive.withValue { $0[job] = base.runsBarrier } }
        }
        // The barrier's submitter overtakes the other one between the view's queue and the base.
        base.beforeNext { view.executeBarrier(note("barrier")) }
        view.execute(note("plain"))
        base.runAll()
        #expect(wasExclusive.value["barrier"] == true)
        #expect(wasExclusive.value["plain"] != nil)
    }

    @Test func `Law 1: a barrier and the jobs submitted meanwhile all run, whichever comes first`()
    {
        let base = RecordingBarrierContext()
        let view = base.bounded(to: 8, overflow: .refuse)
        let order = Box<[Int]>([])
        base.beforeNext {
            for index in 2...4 { view.execute { order.withValue { $0.append(index) } } }
        }
        view.executeBarrier { order.withValue { $0.append(1) } }
        base.runAll()
        // The calls overlap, so the barrier may run first or last. The others keep their order.
        #expect(order.value.sorted() == [1, 2, 3, 4])
        #expect(order.value.filter { $0 != 1 } == [2, 3, 4])
    }

    @Test
    func `Law 4: a view that resubmits its drain is not current in what its base runs meanwhile`() {
        // The base helps: a submitter runs the oldest queued job itself.
        let base = HelpingContext()
        let view = base.serial()
        let answer = Box<Bool?>(nil)
        view.execute {
            for index in 0..<300 {
                view.execute {
                    // A job of another caller, submitted to the base while the view is busy.
                    if index == 100 { base.wait { answer.value = view.isCurrent } }
                }
            }
        }
        base.runAll()
        #expect(answer.value == false)
    }

    @Test(arguments: [true, false])
    func `Law 8: a view of a propagating base keeps each submitter's task-local values`(
        _ isSerial: Bool
    ) {
        let manual = ManualContext()
        let base = manual.propagating(Request.$id)
        let view: any ExecutionContext = isSerial ? base.serial() : base.limited(to: 1)
        let seen = Box<[Int]>([])
        for id in 1...3 {
            Request.$id.withValue(id) { view.execute { seen.withValue { $0.append(Request.id) } } }
        }
        manual.runReady()
        #expect(seen.value == [1, 2, 3])
    }

    @Test func `Law 8: a delayed job sees the task-local values of its submitter`() {
        let manual = ManualContext()
        let view = manual.propagating(Request.$id)
        let seen = Box(0)
        Request.$id.withValue(7) { view.schedule(after: .seconds(1)) { seen.value = Request.id } }
        manual.advance(by: .seconds(1))
        #expect(seen.value == 7)
    }
}

private enum Request {
    @TaskLocal static var id = 0
}

/// Runs its jobs on the test's thread in `runAll`, and knows whether it runs a barrier.
private final class RecordingBarrierContext: BarrierContext {
    private struct State {
        var waiting: [(work: Work, isBarrier: Bool)] = []
        var runsBarrier = false
        var hook: Work?
    }
    private let state = Box(State())

    var runsBarrier: Bool { state.value.runsBarrier }

    /// Runs `action` at the next submission, before the job is queued.
    func beforeNext(_ action: @escaping Work) { state.withValue { $0.hook = action } }

    func execute(_ work: @escaping Work) { take(work, isBarrier: false) }
    func executeBarrier(_ work: @escaping Work) { take(work, isBarrier: true) }

    private func take(_ work: @escaping Work, isBarrier: Bool) {
        state.withValue { $0.hook.take() }?()
        state.withValue { $0.waiting.append((work, isBarrier)) }
    }

    func runAll() {
        while let next = state.withValue({ $0.waiting.isEmpty ? nil : $0.waiting.removeFirst() }) {
            state.withValue { $0.runsBarrier = next.isBarrier }
            next.work()
        }
    }
}

/// A queue whose submitters help: each runs the oldest job, mostly that of another submitter.
private final class HelpingContext: ExecutionContext {
    private let waiting = Box<[Work]>([])

    /// Queues a job for other submitters to run.
    func wait(_ work: @escaping Work) { waiting.withValue { $0.append(work) } }

    func execute(_ work: @escaping Work) {
        wait(work)
        runNext()
    }

    func runAll() { while runNext() {} }

    @discardableResult
    private func runNext() -> Bool {
        guard let work = waiting.withValue({ $0.isEmpty ? nil : $0.removeFirst() }) else {
            return false
        }
        work()
        return true
    }
}
