import Dispatch
import ExecutionContexts
import ExecutionContextsTesting
import Testing

/// Whenever a cancellation comes, everything ends, and what nobody wants is not begun (law 26).
@Suite(.timeLimit(.minutes(30)))
struct AsyncCancelMomentTests {
    // MARK: - Promises

    @Test func `Law 26: a promise that is dropped ends with an error that names where it was made`() throws {
        var async = Promise<Int>().async
        let line = #line - 1
        let error = try #require(async.error as? AsyncError)
        #expect(error == .abandoned(promise: "ExecutionContextsTests/AsyncCancelMomentTests.swift:\(line)"))
        #expect("\(error)".contains("AsyncCancelMomentTests.swift:\(line)"))
        #expect("\(error)".contains("law 26"))
        // Whoever waits is told, also after a callback has been called.
        let told = Box<[String]>([])
        do {
            let promise = Promise<Int>()
            async = promise.async
            async.onComplete { _ in told.withValue { $0.append("callback") } }
            _ = async.map { $0 }.onFailure { _ in told.withValue { $0.append("derived") } }
        }
        #expect(told.value == ["callback", "derived"])
    }

    @Test func `Law 26: a promise that lives on in a callback is not dropped`() {
        let async = Promise<Int>.undropped()
        #expect(!async.isCompleted)
        #expect(async.cancel())
    }

    @Test func `Law 26: handlers are run once, in order, after everybody was told`() {
        let promise = Promise<Int>()
        let log = Box<[String]>([])
        @Sendable func note(_ text: String) { log.withValue { $0.append(text) } }
        promise.onCancel {
            #expect(promise.async.error is CancellationError)
            #expect(!promise.succeed(1))
            note("first")
        }
        promise.onCancel {
            note("second")
            promise.onCancel { note("nested") }
        }
        promise.async.onComplete { _ in note("callback") }
        #expect(promise.async.cancel())
        #expect(!promise.async.cancel())
        promise.onCancel { note("late") }
        #expect(log.value == ["callback", "first", "second", "nested", "late"])
    }

    @Test(arguments: [AsyncPromiseTests.Way.succeed, .fail, .outcome, .body, .throwingBody, .followEnded])
    func `Law 26: after another end no handler runs, and what it captured is freed`(
        _ way: AsyncPromiseTests.Way
    ) {
        let sentinels = Sentinels()
        let promise = Promise<Int>()
        let calls = Box(0)
        for _ in 0..<3 {
            let sentinel = sentinels.make()
            promise.onCancel {
                _ = sentinel
                calls.withValue { $0 += 1 }
            }
        }
        #expect(sentinels.living == 3)
        #expect(way.end(promise))
        #expect(sentinels.living == 0)
        promise.async.cancel()
        promise.onCancel { calls.withValue { $0 += 1 } }
        #expect(calls.value == 0)
    }

    @Test func `Law 26: a promise that fails with a cancellation of somebody else's is not cancelled`() {
        let promise = Promise<Int>()
        let calls = Box(0)
        promise.onCancel { calls.withValue { $0 += 1 } }
        promise.fail(CancellationError())
        promise.onCancel { calls.withValue { $0 += 1 } }
        #expect(calls.value == 0)
    }

    @Test func `Law 26: a handler may complete, cancel and register whatever it likes`() {
        let (promise, other) = (Promise<Int>(), Promise<Int>())
        let log = Box<[String]>([])
        promise.onCancel {
            other.succeed(1)
            promise.async.cancel()
            promise.async.onComplete { _ in log.withValue { $0.append("registered") } }
        }
        other.async.onComplete { _ in log.withValue { $0.append("other") } }
        promise.async.cancel()
        #expect(log.value == ["other", "registered"])
    }

    // MARK: - Functions on contexts

    @Test
    func `Law 26: a map that was cancelled before its turn does not run, and its captures are freed at once`()
    {
        let sentinels = Sentinels()
        let context = ManualContext()
        for moment in ["before the source", "in the line of the context"] {
            let promise = Promise<Int>()
            let runs = Box(0)
            let sentinel = sentinels.make()
            let mapped = promise.async.map(on: context) { [sentinel] value in
                _ = sentinel
                runs.withValue { $0 += 1 }
                return value
            }
            promise.async.onComplete { _ in }
            if moment != "before the source" { promise.succeed(1) }
            #expect(mapped.cancel())
            #expect(mapped.error is CancellationError)
            withExtendedLifetime(sentinel) {}
            if moment == "before the source" { promise.succeed(1) }
            context.runReady()
            #expect(runs.value == 0)
        }
        #expect(sentinels.living == 0)
    }

    @Test func `Law 10: a map that is cancelled in its context's line frees its captures at once`() {
        let sentinels = Sentinels()
        let context = ManualContext()
        let promise = Promise<Int>()
        let mapped: Async<Int>
        do {
            let sentinel = sentinels.make()
            mapped = promise.async.map(on: context) { value in
                _ = sentinel
                return value
            }
        }
        promise.succeed(1)
        #expect(sentinels.living == 1)
        mapped.cancel()
        #expect(sentinels.living == 0)
        #expect(context.readyCount == 1)
        context.runReady()
    }

    @Test
    func `Law 26: a flatMap that is cancelled while its function runs cancels what the function brings`() {
        for context: any ExecutionContext in [.immediate, SerialQueueContext(label: "s").inlineIfCurrent()] {
            let (promise, brought) = (Promise<Int>(), Promise<Int>())
            let end = Box<Async<Int>?>(nil)
            let wasCancelled = DispatchSemaphore(value: 0)
            brought.onCancel { wasCancelled.signal() }
            end.value = promise.async.flatMap(on: context) { _ in
                #expect(end.value?.cancel() == true)
                #expect(!brought.async.isCompleted)
                return brought.async
            }
            promise.succeed(1)
            waitUntil { brought.async.isCompleted }
            #expect(brought.async.error is CancellationError)
            #expect(end.value?.error is CancellationError)
        }
    }

    @Test func `Law 26: what a cancelled flatMap's function brings is left to others who want it`() {
        let (promise, brought) = (Promise<Int>(), Promise<Int>())
        brought.async.onComplete { _ in }
        let end = Box<Async<Int>?>(nil)
        end.value = promise.async.flatMap { _ in
            end.value?.cancel()
            return brought.async
        }
        promise.succeed(1)
        #expect(end.value?.error is CancellationError)
        #expect(!brought.async.isCompleted)
    }

    @Test
    func
        `Law 26: a flatMap that is cancelled after its function ran cancels what it brought, not the source`()
    {
        let (promise, brought) = (Promise<Int>(), Promise<Int>())
        let end = promise.async.flatMap { _ in brought.async }
        promise.succeed(1)
        #expect(end.cancel())
        #expect(brought.async.error is CancellationError)
        #expect(promise.async.value == 1)
    }

    // MARK: - Work

    @Test func `Law 26: submitted work that nobody wants any more does not start, and frees its captures`() {
        let sentinels = Sentinels()
        let context = ManualContext()
        let mapped: Async<Int>
        do {
            let sentinel = sentinels.make()
            mapped = context.submit {
                _ = sentinel
                Issue.record("ran")
                return 1
            }.map { $0 }
        }
        #expect(sentinels.living == 1)
        mapped.cancel()
        #expect(sentinels.living == 0)
        context.runReady()
    }

    @Test func `Law 26: work that has started runs to its end, and cancelling it says that it did nothing`() {
        let context = ManualContext()
        let work = Box<Async<Int>?>(nil)
        work.value = context.submit {
            #expect(work.value?.cancel() == false)
            return 1
        }
        let mapped = work.value?.map { $0 }
        context.execute { [mapped] in #expect(mapped?.cancel() == false) }
        context.runReady()
        #expect(work.value?.value == 1)
    }

    @Test func `Law 26: an async function sees that its Async was cancelled, which has ended by then`() async
    {
        let started = Promise<Void>()
        let seen = Promise<Bool>()
        let async = Async {
            started.succeed(())
            _ = try? await Promise<Int>.undropped().get()
            seen.succeed(Task.isCancelled)
            return 1
        }
        _ = try? await started.async.get()
        #expect(async.cancel())
        #expect(async.error is CancellationError)
        #expect((try? await seen.async.get()) == true)
        #expect(async.error is CancellationError)
    }

    @Test func `Law 26: what nobody ever wanted goes on`() {
        let context = ManualContext()
        let ran = Box(false)
        do { _ = context.submit { ran.value = true } }
        context.runReady()
        #expect(ran.value)
    }
}
