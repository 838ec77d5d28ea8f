import ExecutionContexts
import ExecutionContextsTesting
import ExecutionContextsWork
import TestSupport
import Testing

/// Cancelling work while it is queued, after its hand-over, and concurrently with its start.
@Suite(.patient)
struct PrioritizedQueueCancelTests {
    private let manual = ManualContext()

    @Test func `Law 32: queued work that is cancelled never starts and frees its captures at once`()
    {
        let queue = PrioritizedQueue(on: manual, limit: 0)
        let ran = Box(0)
        weak var capture: Box<Int>?
        let work: QueuedWork<Void>
        do {
            let captured = Box(0)
            capture = captured
            work = queue.submit { ran.withValue { $0 += 1 + captured.value } }
        }
        #expect(work.isPending)
        #expect(work.cancel())
        #expect(capture == nil)
        #expect(!work.isPending)
        #expect(queue.pendingCount == 0)
        #expect(throws: CancellationError.self) { try work.async.outcome?.get() }
        #expect(!work.cancel())
        queue.limit = 1
        manual.runReady()
        #expect(ran.value == 0)
    }

    @Test
    func
        `Law 32: work that is cancelled between its hand-over and its start frees its permit at once`()
    {
        let queue = PrioritizedQueue(on: manual, limit: 1)
        let ran = Box<[Int]>([])
        let first = queue.submit { ran.withValue { $0.append(1) } }
        queue.execute { ran.withValue { $0.append(2) } }
        #expect(manual.readyCount == 1)
        #expect(first.cancel())
        #expect(manual.readyCount == 2)
        #expect(queue.pendingCount == 0)
        manual.runReady()
        #expect(ran.value == [2])
    }

    @Test func `Cancelling the Async removes the work from the queue`() {
        let queue = PrioritizedQueue(on: manual, limit: 0)
        let works = (0..<5).map { index in queue.submit { index } }
        works[0].async.cancel()
        works[4].async.cancel()
        works[2].async.cancel()
        #expect(queue.pendingCount == 2)
        queue.limit = 5
        #expect(manual.runReady() == 2)
        #expect(works.map { try? $0.async.outcome?.get() } == [nil, 1, nil, 3, nil])
    }

    @Test func `Work that has begun is not cancelled, and completes with its value`() throws {
        let queue = PrioritizedQueue(on: .immediate, limit: 1)
        let own = Box<QueuedWork<Int>?>(nil)
        let answer = Box<Bool?>(nil)
        queue.suspend()
        own.value = queue.submit {
            answer.value = own.value?.cancel()
            return 42
        }
        queue.resume()
        #expect(answer.value == false)
        #expect(try own.value?.async.outcome?.get() == 42)
        own.value = nil
    }

    @Test func `Law 9: the deinit of what cancelled work captured may use the queue`() {
        let queue = PrioritizedQueue(on: manual, limit: 0)
        let deinitAction = Lab.DeinitAction { queue.execute(priority: .high) {} }
        let work = queue.submit { [deinitAction] in _ = deinitAction }
        _ = consume deinitAction
        #expect(work.cancel())
        #expect(queue.pendingCount == 1)
    }

    @Test func `Law 32: of sixteen threads that cancel and one start exactly one wins`() async {
        await offThePool {
            for round in 0..<rounds(debug: 200, release: 2000) {
                let queue = PrioritizedQueue(on: .global, limit: round % 3)
                let (ran, cancelled) = (Box(0), Box(0))
                let work = queue.submit { ran.withValue { $0 += 1 } }
                onThreads(16) { index in
                    if index == 0 { queue.limit = 2 }
                    if work.cancel() { cancelled.withValue { $0 += 1 } }
                }
                _ = try? work.async.wait()
                let outcome = (ran.value, cancelled.value)
                #expect(outcome == (1, 0) || outcome == (0, 1))
            }
        }
    }

    @Test func `Laws 32, 33: under every schedule work runs or is cancelled, and the limit holds`()
        async
    {
        await underEverySchedule("cancel beside start") { sim, _ in
            let queue = PrioritizedQueue(on: sim.global, limit: 1)
            let state = Box((ran: 0, cancelled: 0, others: 0, inside: 0, most: 0))
            @Sendable func visit() {
                state.withValue {
                    $0.inside += 1
                    $0.most = max($0.most, $0.inside)
                }
                sim.step()
                state.withValue { $0.inside -= 1 }
            }
            sim.spawn("submits") {
                queue.execute {
                    visit()
                    state.withValue { $0.others += 1 }
                }
                let work = queue.submit {
                    visit()
                    state.withValue { $0.ran += 1 }
                }
                sim.spawn("cancels") { if work.cancel() { state.withValue { $0.cancelled += 1 } } }
                sim.spawn("cancels the Async") { work.async.cancel() }
                work.priority = .high
            }
            sim.spawn("submits more") {
                queue.execute(priority: .high) {
                    visit()
                    state.withValue { $0.others += 1 }
                }
            }
            sim.invariant("one at a time") { state.value.most <= 1 }
            sim.finally("all others ran") { state.value.others == 2 }
            sim.finally("at most one of the two") { state.value.ran + state.value.cancelled <= 1 }
            sim.finally("nothing is left") { queue.pendingCount == 0 && queue.runningCount == 0 }
        }
    }

    @Test func `Laws 32, 33: under every schedule a changed limit and a suspension lose no job`()
        async
    {
        await underEverySchedule("limit and suspension") { sim, _ in
            let queue = PrioritizedQueue(on: sim.global, limit: 0)
            let ran = Box(0)
            for name in ["a", "b"] {
                sim.spawn(name) {
                    for _ in 0..<2 { queue.execute { ran.withValue { $0 += 1 } } }
                    queue.submit { ran.withValue { $0 += 1 } }.priority = .low
                }
            }
            sim.spawn("suspends") {
                queue.suspend()
                queue.limit = 2
                queue.resume()
            }
            sim.finally("all ran") { ran.value == 6 && queue.runningCount == 0 }
        }
    }
}
