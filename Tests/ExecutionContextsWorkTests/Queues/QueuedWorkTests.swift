import Dispatch
import ExecutionContexts
import ExecutionContextsTesting
import ExecutionContextsWork
import TestSupport
import Testing

/// Work that outlives its body: open work and tasks.
@Suite(.patient)
struct QueuedWorkTests {
    private let manual = ManualContext()

    @Test func `Law 32: open work holds its permit until it is ended, once`() throws {
        let queue = PrioritizedQueue(on: manual, limit: 1)
        let open = Box<OpenWork<Int>?>(nil)
        let work = queue.submitOpen(of: Int.self) { open.value = $0 }
        let next = queue.submit { 2 }
        manual.runReady()
        #expect(!work.async.isCompleted)
        #expect(next.isPending)
        #expect(queue.runningCount == 1)
        let openWork = try #require(open.value)
        #expect(openWork.succeed(1))
        #expect(!openWork.succeed(3))
        #expect(!openWork.fail(CancellationError()))
        manual.runReady()
        #expect(try work.async.outcome?.get() == 1)
        #expect(try next.async.outcome?.get() == 2)
        #expect(queue.runningCount == 0)
    }

    @Test func `Work that is ended inside its body holds its permit until the body has returned`() {
        let queue = PrioritizedQueue(on: .immediate, limit: 1)
        let count = Box(0)
        queue.suspend()
        for _ in 0..<50_000 {
            queue.submitOpen(of: Int.self) { work in
                work.succeed(1)
                #expect(queue.runningCount == 1)
                count.withValue { $0 += 1 }
            }
        }
        queue.resume()
        #expect(count.value == 50_000)
        #expect(queue.runningCount == 0)
    }

    @Test func `Law 26: open work that is dropped frees its permit and fails its Async`() throws {
        let queue = PrioritizedQueue(on: manual, limit: 1)
        let work = queue.submitOpen(of: Int.self) { _ in }
        let next = queue.submit { 2 }
        manual.runReady()
        #expect(throws: AsyncError.self) { try work.async.outcome?.get() }
        #expect(try next.async.outcome?.get() == 2)
    }

    @Test func `Cancelled open work is notified, and holds its permit until it is released`() throws
    {
        let queue = PrioritizedQueue(on: manual, limit: 1)
        let open = Box<OpenWork<Int>?>(nil)
        let notifications = Box(0)
        let work = queue.submitOpen(of: Int.self) { work in
            work.onCancel { notifications.withValue { $0 += 1 } }
            open.value = work
        }
        manual.runReady()
        #expect(!work.cancel())
        #expect(!work.cancel())
        #expect(notifications.value == 1)
        #expect(throws: CancellationError.self) { try work.async.outcome?.get() }
        #expect(queue.runningCount == 1)
        open.value = nil
        #expect(queue.runningCount == 0)
    }

    @Test func `Law 32: an async body holds its permit while it is suspended`() throws {
        let queue = PrioritizedQueue(on: manual, limit: 1)
        let log = Box<[String]>([])
        let works = ["a", "b"].map { name in
            queue.submitTask { [manual] in
                log.withValue { $0.append("\(name) begins") }
                try await manual.clock.sleep(for: .seconds(5))
                log.withValue { $0.append("\(name) ends") }
                return name
            }
        }
        try manual.runUntilIdle()
        #expect(log.value == ["a begins", "a ends", "b begins", "b ends"])
        #expect(try works.map { try $0.async.outcome?.get() } == ["a", "b"])
        #expect(manual.now == ContextInstant(nanoseconds: 10_000_000_000))
        #expect(queue.runningCount == 0)
    }

    @Test
    func `Cancelling a running async body cancels its task, which holds its permit to its end`()
        throws
    {
        struct Failure: Error {}
        let queue = PrioritizedQueue(on: manual, limit: 1)
        let sawCancel = Box(false)
        let work = queue.submitTask { [manual] in
            do { try await manual.clock.sleep(for: .seconds(3600)) } catch {
                sawCancel.value = true
            }
            throw Failure()
        }
        let next = queue.submit { 2 }
        manual.runReady()
        #expect(!work.cancel())
        #expect(throws: CancellationError.self) { try work.async.outcome?.get() }
        #expect(queue.runningCount == 1)
        try manual.runUntilIdle()
        #expect(sawCancel.value)
        #expect(try next.async.outcome?.get() == 2)
        #expect(manual.now == ContextInstant(nanoseconds: 0))
    }

    @Test func `A queued async body that is cancelled never starts`() throws {
        let queue = PrioritizedQueue(on: manual, limit: 0)
        let hasRun = Box(false)
        let work = queue.submitTask { hasRun.value = true }
        #expect(work.async.cancel())
        #expect(!work.cancel())
        queue.limit = 1
        try manual.runUntilIdle()
        #expect(!hasRun.value)
    }

    @Test func `Law 32: tasks, open work and plain jobs on the real pool stay within the limit`()
        async throws
    {
        let queue = PrioritizedQueue(on: .global, limit: 3)
        let inside = Box((now: 0, most: 0))
        @Sendable func enter() {
            inside.withValue {
                $0.now += 1
                $0.most = max($0.most, $0.now)
            }
        }
        @Sendable func leave() { inside.withValue { $0.now -= 1 } }
        var all: [QueuedWork<Int>] = []
        for index in 0..<300 {
            switch index % 3 {
            case 0:
                all.append(
                    queue.submit {
                        enter()
                        leave()
                        return index
                    })
            case 1:
                all.append(
                    queue.submitTask {
                        enter()
                        await Task.yield()
                        leave()
                        return index
                    })
            default:
                all.append(
                    queue.submitOpen { work in
                        enter()
                        DispatchQueue.global().async {
                            leave()
                            work.succeed(index)
                        }
                    })
            }
        }
        for (index, work) in all.enumerated() { #expect(try await work.async.get() == index) }
        #expect(inside.value.most <= 3)
    }
}

/// Handles of this library in a cancellation scope.
@Suite(.patient)
struct WorkScopeTests {
    @Test func `Law 37: a scope cancels queued jobs, subscriptions and kept calls`() {
        let context = ManualContext()
        let queue = PrioritizedQueue(on: context, limit: 0)
        let flights = SingleFlight<Int, Int>(on: context) { _, _ in }
        let ran = Box(0)
        let scope = CancellationScope()
        let work = queue.submit { ran.withValue { $0 += 1 } }.stored(in: scope)
        let subscription = flights[1].subscribe { _ in ran.withValue { $0 += 1 } }
            .stored(in: scope)
        let call = context.debounced(by: .seconds(1)) { (_: Int) in ran.withValue { $0 += 1 } }
            .stored(in: scope)
        call(7)
        #expect(!work.isFinished && !subscription.isFinished && !call.isFinished)
        scope.cancel()
        #expect(work.isFinished && subscription.isFinished && !call.isPending)
        queue.limit = 5
        context.advance(by: .seconds(5))
        #expect(ran.value == 0)
    }

    @Test func `Law 37: a job that ran is finished`() {
        let context = ManualContext()
        let work = PrioritizedQueue(on: context, limit: 1).submit {}
        #expect(!work.isFinished)
        context.runReady()
        #expect(work.isFinished)
    }
}

/// Deadlines of jobs in queues and limiters.
@Suite(.patient)
struct WorkDeadlineTests {
    @Test func `Law 38: queues and limiters begin no job after its deadline`() {
        let context = ManualContext(name: "screen")
        let queue = PrioritizedQueue(on: context, limit: 0, name: "decoding")
        let limiter = RateLimiter(on: context, rate: 1, per: .seconds(10))
        let ran = Box<[String]>([])
        limiter.submit { ran.withValue { $0.append("first") } }
        let (plain, task, open, limited) = withDeadline(in: .seconds(2), on: context) {
            (
                queue.submit { ran.withValue { $0.append("plain") } }.async,
                queue.submitTask { ran.withValue { $0.append("task") } }.async,
                queue.submitOpen(of: Void.self) { _ in ran.withValue { $0.append("open") } }.async,
                limiter.submit { ran.withValue { $0.append("limited") } }
            )
        }
        context.advance(by: .seconds(2))
        queue.limit = 4
        context.advance(by: .seconds(20))
        for end in [plain, open, limited] {
            #expect(throws: Refusal.self) { try end.outcome?.get() }
            if case .failure(let error as Refusal)? = end.outcome {
                #expect(error.reason == .deadlinePassed)
            } else {
                Issue.record("not refused")
            }
        }
        #expect(ran.value == ["first"])
        withExtendedLifetime(task) {}
    }

    @Test func `Law 38: queues and limiters begin a job in time, with its deadline`() {
        let context = ManualContext(name: "screen")
        let queue = PrioritizedQueue(on: context, limit: 4)
        let limiter = RateLimiter(on: context, rate: 1)
        let seen = Box<[Duration?]>([])
        withDeadline(in: .seconds(2), on: context) {
            queue.submit { seen.withValue { $0.append(Deadline.current?.remaining) } }
            queue.submitOpen(of: Void.self) { work in
                seen.withValue { $0.append(Deadline.current?.remaining) }
                work.succeed(())
            }
            _ = limiter.submit { seen.withValue { $0.append(Deadline.current?.remaining) } }
        }
        context.runReady()
        #expect(seen.value == [.seconds(2), .seconds(2), .seconds(2)])
    }
}
