import Dispatch
import ExecutionContexts
import ExecutionContextsTesting
import Testing

/// Interleavings of two submitters that a stress test meets once in a million, each built in one thread.
@Suite(.timeLimit(.minutes(30)))
struct ViewRaceTests {
    @Test
    func `Law 3: a barrier of a bounded view runs as a barrier of the base, whoever reaches the base first`()
    {
        let base = RecordingBarrierContext()
        let view = base.bounded(8, overflow: .refuse)
        let wasExclusive = Box<[String: Bool]>([:])
        @Sendable func note(_ piece: String) -> Work {
            { wasExclusive.withValue { $0[piece] = base.runsBarrier } }
        }
        // The barrier's submitter overtakes the other one between the view's line and the base.
        base.beforeNext { view.executeBarrier(note("barrier")) }
        view.execute(note("plain"))
        base.runAll()
        #expect(wasExclusive.value["barrier"] == true)
        #expect(wasExclusive.value["plain"] != nil)
    }

    @Test
    func
        `Law 1: of a barrier and what is submitted meanwhile nothing is lost, whoever reaches the base first`()
    {
        let base = RecordingBarrierContext()
        let view = base.bounded(8, overflow: .refuse)
        let order = Box<[Int]>([])
        base.beforeNext { for piece in 2...4 { view.execute { order.withValue { $0.append(piece) } } } }
        view.executeBarrier { order.withValue { $0.append(1) } }
        base.runAll()
        // The calls overlap, so the barrier may stand before or behind; the others keep their order.
        #expect(order.value.sorted() == [1, 2, 3, 4])
        #expect(order.value.filter { $0 != 1 } == [2, 3, 4])
    }

    @Test
    func `Law 4: a drain that asks its base for another turn is not current in what the base runs meanwhile`()
    {
        // The base helps: a submitter runs the oldest piece of the line itself.
        let base = HelpingContext()
        let view = base.serial()
        let answer = Box<Bool?>(nil)
        view.execute {
            for index in 0..<300 {
                view.execute {
                    // Somebody else's work, submitted to the base while the view is busy.
                    if index == 100 { base.wait { answer.value = view.isCurrent } }
                }
            }
        }
        base.runAll()
        #expect(answer.value == false)
    }

    @Test(arguments: [true, false])
    func `Law 8: a view keeps the task-locals that its base carries, each submitter's own`(_ isSerial: Bool) {
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

    @Test func `Law 8: delayed work keeps the task-locals of who scheduled it`() {
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

/// Runs on the test's thread when told to, and knows whether it runs a barrier.
private final class RecordingBarrierContext: BarrierContext {
    private struct State {
        var waiting: [(work: Work, isBarrier: Bool)] = []
        var runsBarrier = false
        var hook: Work?
    }
    private let state = Box(State())

    var runsBarrier: Bool { state.value.runsBarrier }

    /// Does something at the next submission, before the work is taken.
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

/// A line of work whose submitters run a piece of it themselves: the oldest, mostly somebody else's.
private final class HelpingContext: ExecutionContext {
    private let waiting = Box<[Work]>([])

    /// Leaves a piece for others to run.
    func wait(_ work: @escaping Work) { waiting.withValue { $0.append(work) } }

    func execute(_ work: @escaping Work) {
        wait(work)
        runNext()
    }

    func runAll() { while runNext() {} }

    @discardableResult
    private func runNext() -> Bool {
        guard let work = waiting.withValue({ $0.isEmpty ? nil : $0.removeFirst() }) else { return false }
        work()
        return true
    }
}
