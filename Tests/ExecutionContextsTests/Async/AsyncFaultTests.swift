import Dispatch
import ExecutionContexts
import ExecutionContextsTesting
import TestSupport
import Testing

/// Callbacks and functions on contexts that violate the laws.
@Suite(.patient)
struct AsyncFaultTests {
    @Test func `Law 25: a context that runs each job twice calls a callback once`() {
        let doubling = ClosureContext { work in
            work()
            work()
        }
        let promise = Promise<Int>()
        let calls = Box<[String]>([])
        @Sendable func note(_ text: String) { calls.withValue { $0.append(text) } }
        promise.async.onComplete(on: doubling) { _ in note("callback") }
        promise.async.onComplete(on: doubling, while: InvalidationToken()) { _ in
            note("with a token")
        }
        let mapped = promise.async.map(on: doubling) { value in
            note("map")
            return value
        }
        promise.succeed(1)
        #expect(mapped.value == 1)
        #expect(calls.value == ["callback", "with a token", "map"])
    }

    @Test func `Law 25: a context that runs each job twice at the same time calls a callback once`()
        async
    {
        await watched {
            // Runs each job on two threads that wait for each other.
            let doubling = ClosureContext { work in onThreads(2, work) }
            let calls = Box(0)
            let count = rounds(debug: 100, release: 1000)
            for _ in 0..<count {
                let promise = Promise<Int>()
                let end = promise.async
                    .onComplete(on: doubling) { _ in calls.withValue { $0 += 1 } }
                    .onComplete(on: doubling, while: InvalidationToken()) { _ in
                        calls.withValue { $0 += 1 }
                    }
                    .map(on: doubling) { $0 + 1 }
                    .delay(.zero, on: doubling)
                promise.succeed(1)
                #expect((try? end.wait()) == 2)
            }
            #expect(calls.value == 2 * count)
        }
    }

    @Test func `Law 10: a context that drops a callback frees its captures`() {
        let dropping = ClosureContext { _ in }
        let sentinels = Sentinels()
        let promise = Promise<Int>()
        let token = InvalidationToken()
        for _ in 0..<2 {
            let sentinel = sentinels.make()
            promise.async.onComplete(on: dropping) { _ in _ = sentinel }
            promise.async.onComplete(on: dropping, while: token) { _ in _ = sentinel }
            // Registered before the completion, and after it.
            promise.succeed(1)
        }
        #expect(sentinels.living == 0)
        token.invalidate()
    }

    @Test func `Law 1: a callback that a full context refuses traps with a message`() async throws {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent])
        {
            let view = ManualContext(name: "crowded").bounded(to: 1, overflow: .refuse)
            let promise = Promise<Int>()
            promise.async.onComplete(on: view) { _ in }
            promise.async.onComplete(on: view) { _ in }
            promise.succeed(1)
        }
        try expectTrap(result, "refused by 'crowded'", "law 1")
    }
}
