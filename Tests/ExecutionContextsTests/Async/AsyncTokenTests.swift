import Dispatch
import ExecutionContexts
import ExecutionContextsTesting
import TestSupport
import Testing

/// A callback with a token is called once at most, and never after its invalidation (law 25).
@Suite(.patient)
struct AsyncTokenTests {
    @Test(arguments: Subject.bases)
    func `Law 25: a callback with a valid token is called once, on its context`(_ subject: Subject)
        async
    {
        await watched {
            let made = subject.make()
            let (promise, token) = (Promise<Int>(), InvalidationToken())
            let calls = Box(0)
            let done = DispatchSemaphore(value: 0)
            func register() {
                promise.async.onComplete(on: made.context, while: token) { outcome in
                    if context(made.context) { calls.withValue { $0 += 1 } }
                    #expect((try? outcome.get()) == 7)
                    done.signal()
                }
            }
            @Sendable func context(_ context: any ExecutionContext) -> Bool {
                context.isCurrent != false
            }
            register()
            promise.succeed(7)
            register()
            if let drive = made.drive {
                drive()
            } else {
                for _ in 0..<2 { done.wait() }
            }
            #expect(calls.value == 2)
        }
    }

    @Test func `Law 25: once the context has invalidated a token, no callback with it is called`() {
        let context = ManualContext()
        let (promise, token) = (Promise<Int>(), InvalidationToken())
        let calls = Box(0)
        for _ in 0..<3 {
            promise.async.onComplete(on: context, while: token) { _ in calls.withValue { $0 += 1 } }
        }
        // The callbacks are queued on the context already when the token is invalidated.
        context.execute { token.invalidate() }
        promise.succeed(1)
        context.runReady()
        #expect(calls.value == 0)
        promise.async.onComplete(on: context, while: token) { _ in calls.withValue { $0 += 1 } }
        context.runReady()
        #expect(calls.value == 0)
    }

    @Test
    func `Law 25: a callback that invalidates its token is the last one with it that is called`() {
        let (promise, token) = (Promise<Int>(), InvalidationToken())
        let log = Box<[Int]>([])
        for number in 0..<5 {
            promise.async.onComplete(while: token) { _ in
                log.withValue { $0.append(number) }
                if number == 2 { token.invalidate() }
            }
        }
        promise.async.onComplete { _ in log.withValue { $0.append(5) } }
        promise.succeed(1)
        #expect(log.value == [0, 1, 2, 5])
    }

    @Test
    func
        `Law 25: invalidating a token frees the captures of its callbacks, in whichever queue they are`()
    {
        let sentinels = Sentinels()
        let context = ManualContext()
        let (pending, ended, token) = (Promise<Int>(), Promise<Int>(), InvalidationToken())
        for promise in [pending, ended] {
            let sentinel = sentinels.make()
            promise.async.onComplete(on: context, while: token) { _ in _ = sentinel }
            promise.async.onComplete { _ in }
        }
        // One callback is in the queue of its promise, the other one in the queue of the context.
        ended.succeed(1)
        #expect(sentinels.living == 2)
        token.invalidate()
        #expect(sentinels.living == 0)
        #expect(!pending.async.isCompleted)
        context.runReady()
    }

    @Test func `Law 25: a callback registered with an invalid token is neither called nor kept`() {
        let sentinels = Sentinels()
        let token = InvalidationToken()
        token.invalidate()
        let calls = Box(0)
        for promise in [Promise<Int>(), Promise<Int>()] {
            let sentinel = sentinels.make()
            promise.async.onComplete(while: token) { _ in
                _ = sentinel
                calls.withValue { $0 += 1 }
            }
            promise.succeed(1)
        }
        #expect(calls.value == 0)
        #expect(sentinels.living == 0)
    }

    @Test func `Law 10: a called callback does not keep its token, nor the token the callback`() {
        let sentinels = Sentinels()
        weak var kept: InvalidationToken?
        let promise = Promise<Int>()
        do {
            let token = InvalidationToken()
            kept = token
            let sentinel = sentinels.make()
            promise.async.onComplete(while: token) { _ in _ = sentinel }
        }
        #expect(sentinels.living == 1)
        promise.succeed(1)
        #expect(sentinels.living == 0)
        #expect(kept == nil)
    }

    @Test func `Law 26: invalidating the token of the last subscriber cancels the Async`() {
        let (promise, first, second) = (Promise<Int>(), InvalidationToken(), InvalidationToken())
        let log = Box<[String]>([])
        promise.onCancel { log.withValue { $0.append("cancelled") } }
        for token in [first, second, second] {
            promise.async.onComplete(while: token) { _ in log.withValue { $0.append("called") } }
        }
        first.invalidate()
        #expect(!promise.async.isCompleted)
        second.invalidate()
        #expect(promise.async.error is CancellationError)
        #expect(log.value == ["cancelled"])
    }

    @Test func `Law 26: invalidating a token cancels no Async that has another subscriber`() {
        let (promise, token) = (Promise<Int>(), InvalidationToken())
        promise.async.onComplete(while: token) { _ in }
        promise.async.onComplete { _ in }
        token.invalidate()
        #expect(!promise.async.isCompleted)
    }

    @Test func `Law 26: invalidating a token cancels a chain up to its promise`() {
        let (promise, token) = (Promise<Int>(), InvalidationToken())
        promise.async.map { $0 }.flatMap { Async(.success($0)) }.zip(Async(.success(1)))
            .onComplete(while: token) { _ in }
        token.invalidate()
        #expect(promise.async.error is CancellationError)
    }

    @Test func `Law 9: a token may be invalidated again by any code that its invalidation calls`() {
        let (promise, token) = (Promise<Int>(), InvalidationToken())
        let calls = Box(0)
        promise.onCancel {
            token.invalidate()
            promise.async.onComplete(while: token) { _ in calls.withValue { $0 += 1 } }
        }
        let farewell = Farewell {
            token.invalidate()
            calls.withValue { $0 += 10 }
        }
        promise.async.onComplete(while: token) { [farewell] _ in _ = farewell }
        token.invalidate()
        #expect(promise.async.error is CancellationError)
        #expect(calls.value <= 10)
    }

    @Test func `Law 25: invalidating one token frees its ten thousand callbacks`() {
        let sentinels = Sentinels()
        let token = InvalidationToken()
        let promises = (0..<100).map { _ in Promise<Int>() }
        for index in 0..<10_000 {
            let sentinel = sentinels.make()
            promises[index % 100].async.onComplete(while: token) { _ in _ = sentinel }
        }
        #expect(sentinels.living == 10_000)
        token.invalidate()
        #expect(sentinels.living == 0)
        #expect(promises.allSatisfy { $0.async.error is CancellationError })
    }
}
