import Dispatch
import ExecutionContexts
import ExecutionContextsTesting
import TestSupport
import Testing

/// Whenever a cancellation comes, its future ends, and an unwanted job does not start (law 26).
@Suite(.patient)
struct AsyncCancelMomentTests {
    // MARK: - Promises

    @Test
    func `Law 26: a released promise ends its Async with an error that names its source location`()
        throws
    {
        var async = Promise<Int>().async
        let line = #line - 1
        let error = try #require(async.error as? AsyncError)
        #expect(
            error
                == .abandoned(
                    promise: "ExecutionContextsTests/AsyncCancelMomentTests.swift:\(line)"))
        #expect("\(error)".contains("AsyncCancelMomentTests.swift:\(line)"))
        #expect("\(error)".contains("law 26"))
        // Each subscriber is notified, also one behind a callback.
        let notified = Box<[String]>([])
        do {
            let promise = Promise<Int>()
            async = promise.async
            async.onComplete { _ in notified.withValue { $0.append("callback") } }
            _ = async.map { $0 }.onFailure { _ in notified.withValue { $0.append("derived") } }
        }
        #expect(notified.value == ["callback", "derived"])
    }

    @Test func `Law 26: a promise that a callback captures is not released`() {
        let async = Promise<Int>.undropped()
        #expect(!async.isCompleted)
        #expect(async.cancel())
    }

    private final class Canary: Sendable {}

    private final class Captured: @unchecked Sendable {
        // Unchecked: no code sets it after `init`, and reads of a weak reference are atomic.
        private(set) weak var object: Canary?
        init(_ object: Canary?) { self.object = object }
    }

    @Test(arguments: [false, true])
    func `Law 10: a cancellation that meets the end of its source frees what the function captures`(
        hops: Bool
    ) throws {
        try simulate("cancelled as the source ends", schedules: 500) { sim in
            let source = Box<Async<Int>?>(
                Async(.success(1)).delay(.seconds(Int64.max), on: .global))
            let canary = Box<Canary?>(Canary())
            let derived = { (source: Async<Int>, canary: Canary) in
                hops
                    ? source.map(on: .global) { _ in withExtendedLifetime(canary) {} }
                    : source.map { _ in withExtendedLifetime(canary) {} }
            }(source.value!, canary.value!)
            let captured = Captured(canary.value)
            canary.value = nil
            sim.spawn("owner") { source.value = nil }
            sim.spawn("canceller") { _ = derived.cancel() }
            sim.finally("the captures are freed") {
                withExtendedLifetime(derived) { captured.object == nil }
            }
        }
    }

    @Test func `Law 26: onCancel handlers run once, in order, after all subscribers are notified`()
    {
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

    @Test(arguments: [
        AsyncPromiseTests.Way.succeed, .fail, .outcome, .body, .throwingBody, .followEnded,
    ])
    func `Law 26: after any other completion no onCancel handler runs, and its captures are freed`(
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

    @Test func `Law 26: failing a promise with a CancellationError does not cancel the promise`() {
        let promise = Promise<Int>()
        let calls = Box(0)
        promise.onCancel { calls.withValue { $0 += 1 } }
        promise.fail(CancellationError())
        promise.onCancel { calls.withValue { $0 += 1 } }
        #expect(calls.value == 0)
    }

    @Test
    func
        `Law 26: an onCancel handler may complete promises, cancel futures and register callbacks`()
    {
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
    func
        `Law 26: the function of a cancelled map does not run, and its captures are freed at once`()
    {
        let sentinels = Sentinels()
        let context = ManualContext()
        for moment in ["before the source", "in the queue of the context"] {
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

    @Test
    func `Law 10: a map that is cancelled in the queue of its context frees its captures at once`()
    {
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
    func
        `Law 26: a flatMap cancelled while its function runs cancels the future the function returns`()
    {
        for context: any ExecutionContext in [
            .immediate, SerialQueueContext(name: "s").inlineIfCurrent(),
        ] {
            let (promise, returned) = (Promise<Int>(), Promise<Int>())
            let end = Box<Async<Int>?>(nil)
            let wasCancelled = DispatchSemaphore(value: 0)
            returned.onCancel { wasCancelled.signal() }
            end.value = promise.async.flatMap(on: context) { _ in
                #expect(end.value?.cancel() == true)
                #expect(!returned.async.isCompleted)
                return returned.async
            }
            promise.succeed(1)
            waitUntil { returned.async.isCompleted }
            #expect(returned.async.error is CancellationError)
            #expect(end.value?.error is CancellationError)
        }
    }

    @Test func `Law 26: a cancelled flatMap leaves a returned future to its other subscribers`() {
        let (promise, returned) = (Promise<Int>(), Promise<Int>())
        returned.async.onComplete { _ in }
        let end = Box<Async<Int>?>(nil)
        end.value = promise.async.flatMap { _ in
            end.value?.cancel()
            return returned.async
        }
        promise.succeed(1)
        #expect(end.value?.error is CancellationError)
        #expect(!returned.async.isCompleted)
    }

    @Test
    func
        `Law 26: a flatMap cancelled after its function ran cancels the returned future, not the source`()
    {
        let (promise, returned) = (Promise<Int>(), Promise<Int>())
        let end = promise.async.flatMap { _ in returned.async }
        promise.succeed(1)
        #expect(end.cancel())
        #expect(returned.async.error is CancellationError)
        #expect(promise.async.value == 1)
    }

    // MARK: - Jobs

    @Test func `Law 26: a submitted job whose last subscriber leaves does not start, and is freed`()
    {
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

    @Test func `Law 26: a started job runs to its end, and cancelling it returns false`() {
        let context = ManualContext()
        let submitted = Box<Async<Int>?>(nil)
        submitted.value = context.submit {
            #expect(submitted.value?.cancel() == false)
            return 1
        }
        let mapped = submitted.value?.map { $0 }
        context.execute { [mapped] in #expect(mapped?.cancel() == false) }
        context.runReady()
        #expect(submitted.value?.value == 1)
    }

    @Test(.alsoSimulated)
    func `Law 26: cancelling an Async ends it, and cancels the task of its async function`()
        async
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

    @Test func `Law 26: a submitted job that never had a subscriber runs`() {
        let context = ManualContext()
        let ran = Box(false)
        do { _ = context.submit { ran.value = true } }
        context.runReady()
        #expect(ran.value)
    }
}
