import Dispatch
import ExecutionContexts
import ExecutionContextsTesting
import Testing

/// Who keeps an `Async` from being cancelled, and who does not (law 26).
@Suite(.timeLimit(.minutes(30)))
struct AsyncInterestTests {
    typealias Visitor = AsyncCancelTests.Visitor

    /// Runs a task that awaits it; returns when the task does.
    private func awaiting(_ async: Async<Int>) -> Task<Int, any Error> {
        startedTask { try await async.get() }
    }

    // MARK: - Awaiting

    @Test func `Law 26: a cancelled task that awaits gets its error, and what it awaited goes on`()
        async throws
    {
        let promise = Promise<Int>()
        promise.onCancel { Issue.record("Nothing was cancelled but a task that waited.") }
        let tasks = [awaiting(promise.async), awaiting(promise.async)]
        for task in tasks {
            task.cancel()
            await #expect(throws: CancellationError.self) { try await task.value }
            #expect(!promise.async.isCompleted)
        }
        // Cancelled before it asks, it does not wait, and cancels nothing either.
        let late = Task {
            while !Task.isCancelled { await Task.yield() }
            return try await promise.async.get()
        }
        late.cancel()
        await #expect(throws: CancellationError.self) { try await late.value }
        let next = awaiting(promise.async)
        promise.succeed(7)
        #expect(try await next.value == 7)
    }

    @Test(arguments: Visitor.all)
    func `Law 26: a task that awaits keeps the promise, and when it leaves last the promise goes on`(
        _ visitor: Visitor
    ) async {
        let promise = Promise<Int>()
        let task = awaiting(promise.async)
        await watched { visitor.visit(promise.async)() }
        #expect(!promise.async.isCompleted)
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
        #expect(!promise.async.isCompleted)
    }

    @Test func `Law 26: a cache of requests is safe when its callers are cancelled while they await`()
        async throws
    {
        let cache = LockedResource([String: Async<Int>](), lockedBy: .section)
        let requests = Box<[Promise<Int>]>([])
        let load: @Sendable (String) -> Async<Int> = { key in
            cache.write { known in
                if let request = known[key] { return request }
                let request = Promise<Int>()
                requests.withValue { $0.append(request) }
                known[key] = request.async
                return request.async
            }
        }
        var dice = Dice(seed: 26)
        let callers = (0..<100).map { _ in (startedTask { try await load("wren").get() }, dice.roll(2) == 0) }
        for (task, isCancelled) in callers where isCancelled { task.cancel() }
        for (task, isCancelled) in callers where isCancelled {
            await #expect(throws: CancellationError.self) { try await task.value }
        }
        requests.value[0].succeed(4)
        for (task, isCancelled) in callers where !isCancelled { #expect(try await task.value == 4) }
        #expect(requests.value.count == 1)
    }

    // MARK: - Sharing

    @Test(arguments: Visitor.all)
    func `Law 26: nothing that is derived from a shared Async ends it, and its own cancel does`(
        _ visitor: Visitor
    ) async {
        await watched {
            for endsItself in [true, false] {
                let promise = Promise<Int>()
                let cancellations = Box(0)
                promise.onCancel { cancellations.withValue { $0 += 1 } }
                let shared = promise.async.shared()
                visitor.visit(shared)()
                visitor.visit(shared.map { $0 })()
                #expect(!shared.isCompleted)
                #expect(!promise.async.isCompleted)
                if endsItself {
                    #expect(shared.cancel())
                    #expect(promise.async.error is CancellationError)
                } else {
                    promise.succeed(7)
                    #expect(shared.value == 7)
                }
                #expect(cancellations.value == (endsItself ? 1 : 0))
            }
        }
    }

    @Test func `Law 26: a time limit and a look at what has ended leave a shared Async alone`() {
        let context = ManualContext()
        let promise = Promise<Int>()
        let shared = promise.async.shared()
        #expect(shared.timeout(after: .zero, on: context).error is AsyncError)
        let limited = shared.timeout(after: .seconds(1), on: context)
        let first = Async.first(of: [shared, Async(.success(1))])
        context.advance(by: .seconds(1))
        #expect(limited.error is AsyncError)
        #expect(first.value == 1)
        promise.succeed(2)
        #expect(shared.value == 2)
    }

    // MARK: - Side effects

    @Test(arguments: Visitor.all)
    func `Law 26: a side effect does not keep a promise whose only party leaves, and is told of it`(
        _ visitor: Visitor
    ) async {
        await watched {
            let promise = Promise<Int>()
            let told = Box<[String]>([])
            promise.async.tap { outcome in
                told.withValue { $0.append((try? outcome.get()) == nil ? "cancelled" : "value") }
            }
            let leave = visitor.visit(promise.async)
            promise.async.tap(on: .global) { _ in told.withValue { $0.append("elsewhere") } }
            leave()
            waitUntil { promise.async.isCompleted && told.value.count == 2 }
            #expect(promise.async.error is CancellationError)
            #expect(told.value.sorted() == ["cancelled", "elsewhere"])
        }
    }

    @Test func `Law 26: a side effect has nothing cancelled, and sees the outcome of every end`() {
        for outcome in [Result<Int, any Error>.success(1), .failure(Oops())] {
            let promise = Promise<Int>()
            let calls = Box(0)
            for _ in 0..<3 { promise.async.tap { _ in calls.withValue { $0 += 1 } } }
            #expect(!promise.async.isCompleted)
            promise.complete(outcome)
            promise.async.tap { _ in calls.withValue { $0 += 1 } }
            #expect(calls.value == 4)
        }
    }

    @Test func `Law 25: side effects and callbacks are called in the order of registration`() {
        var dice = Dice(seed: 25)
        for _ in 0..<200 {
            let promise = Promise<Int>()
            let log = Box<[Int]>([])
            let count = dice.roll(8) + 1
            for number in 0..<count {
                let note: @Sendable (Result<Int, any Error>) -> Void = { _ in
                    log.withValue { $0.append(number) }
                    guard number == 0 else { return }
                    promise.async.tap { _ in log.withValue { $0.append(count) } }
                    promise.async.onComplete { _ in log.withValue { $0.append(count + 1) } }
                }
                if dice.roll(2) == 0 { promise.async.tap(note) } else { promise.async.onComplete(note) }
            }
            promise.succeed(1)
            #expect(log.value == Array(0...(count + 1)))
        }
    }

    @Test
    func `Law 25: a side effect runs where it is told to, once, also on a context that runs work twice`() {
        let manual = ManualContext()
        let twice = ClosureContext { work in
            work()
            work()
        }
        let promise = Promise<Int>()
        let calls = Box<[String]>([])
        promise.async.tap(on: manual) { _ in calls.withValue { $0.append("manual") } }
        promise.async.tap(on: twice) { _ in calls.withValue { $0.append("twice") } }
        promise.succeed(1)
        #expect(calls.value == ["twice"])
        manual.runReady()
        #expect(calls.value == ["twice", "manual"])
    }

    @Test func `Law 26: what was cancelled twice, shared twice or looked at twice is what it was`() {
        let promise = Promise<Int>()
        let inner = promise.async.shared()
        let shared = inner.shared()
        shared.map { $0 }.cancel()
        #expect(!shared.isCompleted)
        #expect(shared.cancel())
        #expect(!shared.cancel())
        // What is derived from a shared one does not cancel it, and the outer one is derived from the inner one.
        #expect(!inner.isCompleted && !promise.async.isCompleted)
        #expect(inner.cancel())
        #expect(promise.async.error is CancellationError)
    }
}
