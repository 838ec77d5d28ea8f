import ExecutionContexts
import ExecutionContextsTesting
import ExecutionContextsWork
import TestSupport
import Testing

/// Waiting for a queue, emptying it, and jobs that come later.
@Suite(.patient)
struct PrioritizedQueueEndingTests {
    private let context = ManualContext()

    @Test func `Law 32: a queue is drained when no job waits or runs, after their results`() {
        let queue = PrioritizedQueue(on: context, limit: 1)
        #expect(queue.drained().isCompleted)
        let log = Box<[String]>([])
        queue.submit { log.withValue { $0.append("job") } }.async
            .onSuccess { log.withValue { $0.append("result") } }
        queue.execute { [context] in
            log.withValue { $0.append("job 2") }
            queue.submit { log.withValue { $0.append("job 3") } }.async
                .onSuccess { log.withValue { $0.append("result 3") } }
            _ = context
        }
        queue.drained().onSuccess { log.withValue { $0.append("drained") } }
        context.runReady()
        #expect(log.value == ["job", "result", "job 2", "job 3", "result 3", "drained"])
        #expect(queue.drained().isCompleted)
    }

    @Test func `Law 32: an open job and a cancelled one count until they have ended`() {
        let queue = PrioritizedQueue(on: context, limit: 1)
        let open = Box<OpenWork<Void>?>(nil)
        queue.submitOpen(of: Void.self) { open.value = $0 }
        let last = queue.submit {}
        context.runReady()
        let drained = queue.drained()
        last.cancel()
        context.runReady()
        #expect(!drained.isCompleted)
        open.value?.succeed(())
        #expect(drained.isCompleted)
        let empty = PrioritizedQueue(on: context, limit: 0)
        let waiting = empty.submit {}
        let end = empty.drained()
        #expect(!end.isCompleted)
        waiting.cancel()
        #expect(end.isCompleted)
    }

    @Test func `Law 32: a base that refuses or drops its jobs leaves the queue drained`() {
        for fault in Lab.BadBase.Fault.allCases {
            let base = Lab.BadBase(fault)
            let queue = PrioritizedQueue(on: base, limit: 1)
            let work = queue.submit {}
            let drained = queue.drained()
            base.dropKept()
            #expect(work.async.isCompleted)
            #expect(drained.isCompleted)
        }
    }

    @Test func `Law 32: cancelAll cancels what has not started, and leaves what has no result`() {
        let queue = PrioritizedQueue(on: context, limit: 1)
        let ran = Box<[Int]>([])
        let works = (0..<5).map { number in queue.submit { ran.withValue { $0.append(number) } } }
        queue.execute { ran.withValue { $0.append(9) } }
        context.step()
        #expect(queue.cancelAll() == 4)
        #expect(queue.cancelAll() == 0)
        context.runReady()
        #expect(ran.value == [0, 9])
        for work in works.dropFirst() {
            #expect(throws: CancellationError.self) { try work.async.outcome?.get() }
        }
    }

    @Test func `Law 7: a job that comes later is queued when its delay has passed`() {
        let queue = PrioritizedQueue(on: context, limit: 1)
        let ran = Box<[String]>([])
        let late = queue.submit(after: .seconds(2), priority: .high) {
            ran.withValue { $0.append("late") }
            return 7
        }
        context.advance(by: .seconds(1))
        #expect(ran.value == [])
        #expect(queue.pendingCount == 0)
        context.advance(by: .seconds(1))
        #expect(ran.value == ["late"])
        #expect((try? late.outcome?.get()) == 7)
    }

    @Test func `Law 7: cancelling it cancels the delay, or the job that waits`() {
        let queue = PrioritizedQueue(on: context, limit: 1)
        let ran = Box(0)
        let first = queue.submit(after: .seconds(2)) { ran.withValue { $0 += 1 } }
        first.cancel()
        #expect(context.delayedCount == 0)
        queue.limit = 0
        let second = queue.submit(after: .seconds(2)) { ran.withValue { $0 += 1 } }
        context.advance(by: .seconds(2))
        #expect(queue.pendingCount == 1)
        second.cancel()
        #expect(queue.pendingCount == 0)
        queue.limit = 1
        context.runReady()
        #expect(ran.value == 0)
    }

    @Test func `Law 10: a context that drops the delay ends the result, and frees the captures`() {
        weak var captured: Box<Int>?
        let late: Async<Int>
        do {
            let context = ManualContext()
            let queue = PrioritizedQueue(on: context, limit: 1)
            let box = Box(0)
            captured = box
            late = queue.submit(after: .seconds(2)) { box.value }
            try? context.finish()
        }
        #expect(captured == nil)
        #expect(throws: (any Error).self) { try late.outcome?.get() }
    }

    @Test func `The loads of a queue come at once, and when they have changed`() async throws {
        let queue = PrioritizedQueue(on: context, limit: 1)
        var loads = queue.loads.makeAsyncIterator()
        #expect(await loads.next()?.isIdle == true)
        for _ in 0..<3 { queue.submit {} }
        var load = await loads.next()
        #expect(load?.pendingCount == 2 && load?.runningCount == 1)
        context.step()
        load = await loads.next()
        #expect(load?.pendingCount == 1)
        context.runReady()
        load = await loads.next()
        #expect(load?.isIdle == true)
        let consumer = startedTask {
            var count = 0
            for await _ in queue.loads { count += 1 }
            return count
        }
        consumer.cancel()
        #expect(try await consumer.value <= 1)
    }

    @Test func `Law 32: waiting for the queue while jobs end elsewhere misses no end`() async {
        await underEverySchedule("drained") { sim, onlooker in
            let queue = PrioritizedQueue(on: sim.global, limit: 2)
            let ended = Box(0)
            for _ in 0..<3 { queue.execute { ended.withValue { $0 += 1 } } }
            let drained = Box(false)
            sim.spawn("waiting") {
                queue.drained().onSuccess {
                    onlooker.expect(ended.value == 3, "\(ended.value) of 3 have ended")
                    drained.value = true
                }
            }
            sim.finally("it is drained") { drained.value }
        }
    }

    @Test func `Law 32: a job counts until its submitter was notified`() {
        let queue = PrioritizedQueue(on: context, limit: 0)
        let (drained, work) = (Box<Async<Void>?>(nil), Box<QueuedWork<Void>?>(nil))
        let isEarly = Box<Bool?>(nil)
        do {
            let captured = Lab.DeinitAction {
                drained.value = queue.drained()
                isEarly.value =
                    drained.value?.isCompleted == true && work.value?.async.outcome == nil
            }
            work.value = queue.submit { withExtendedLifetime(captured) {} }
        }
        work.value?.async.onComplete { _ in }
        work.value?.cancel()
        #expect(isEarly.value == false)
        #expect(drained.value?.isCompleted == true)
    }

    @Test func `Law 32: cancelAll starts no job, also on a base that runs jobs inline`() {
        let base = Later()
        let queue = PrioritizedQueue(on: base, limit: 1)
        let ran = Box(0)
        for _ in 0..<3 { queue.submit { ran.withValue { $0 += 1 } } }
        base.isInline.value = true
        #expect(queue.cancelAll() == 3)
        #expect(ran.value == 0)
    }

    /// A base that keeps its first jobs, and later runs jobs inline.
    private struct Later: ExecutionContext {
        let isInline = Box(false)
        let kept = Box<[Work]>([])
        func execute(_ work: @escaping Work) {
            if isInline.value { work() } else { kept.withValue { $0.append(work) } }
        }
    }

    @Test func `The loads follow each job of a request that runs several`() async throws {
        let queue = PrioritizedQueue(on: GlobalContext(), limit: 1)
        let steps = Channel<Int>()
        let doors = (0..<3).map { _ in Promise<Void>() }
        for door in doors { queue.execute { try? door.async.wait() } }
        let consumer = Task {
            for await load in queue.loads {
                try await steps.send(load.pendingCount)
                if load.isIdle { return }
            }
        }
        for (index, door) in doors.enumerated() {
            while try await steps.receive() != 2 - index {}
            door.succeed()
        }
        while try await steps.receive() != 0 {}
        consumer.cancel()
        steps.cancel()
        _ = await consumer.result
    }

    @Test func `Law 10: queued jobs that cancel each other a hundred thousand deep end`() {
        let queue = PrioritizedQueue(on: context, limit: 0)
        var last: QueuedWork<Void>?
        for _ in 0..<100_000 {
            let action = Lab.DeinitAction { [last] in last?.cancel() }
            last = queue.submit { withExtendedLifetime(action) {} }
        }
        last?.cancel()
        last = nil
        #expect(queue.pendingCount == 0)
    }

    @Test func `Law 7: a job after an endless delay waits, and can be cancelled`() {
        let queue = PrioritizedQueue(on: context, limit: 1)
        let late = queue.submit(after: .seconds(Int64.max)) {}
        #expect(!late.isCompleted)
        late.cancel()
        #expect(throws: CancellationError.self) { try late.outcome?.get() }
    }

    @Test func `Law 38: a job that comes after its deadline is refused`() {
        let queue = PrioritizedQueue(on: context, limit: 1)
        let late = withDeadline(in: .seconds(1), on: context) {
            queue.submit(after: .seconds(5)) { 42 }
        }
        context.advance(by: .seconds(5))
        #expect(throws: Refusal.self) { try late.outcome?.get() }
    }

    @Test func `Law 37: a scope keeps no value of a job that has ended`() {
        final class Picture: Sendable {}
        let queue = PrioritizedQueue(on: context, limit: 1)
        let scope = CancellationScope()
        weak var picture: Picture?
        do {
            queue.submit { Picture() }.stored(in: scope).async.onSuccess { _ in }
            context.runReady()
            let work = queue.submit {
                let made = Picture()
                return made
            }
            work.stored(in: scope)
            context.runReady()
            picture = try? work.async.outcome?.get()
            #expect(picture != nil)
        }
        #expect(picture == nil)
        withExtendedLifetime(scope) {}
    }
}
