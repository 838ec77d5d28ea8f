import Dispatch
import ExecutionContexts
import ExecutionContextsTesting
import TestSupport
import Testing

/// Which subscribers keep an `Async` from being cancelled, and which do not (law 26).
@Suite(.patient)
struct AsyncInterestTests {
    typealias Subscriber = AsyncCancelTests.Subscriber

    /// Starts a task in `get()`, and returns once that task waits.
    private func awaiting(_ async: Async<Int>) -> Task<Int, any Error> {
        startedTask { try await async.get() }
    }

    // MARK: - Awaiting

    @Test(.alsoSimulated)
    func `Law 26: a task cancelled in get throws, and the awaited future continues`()
        async throws
    {
        let promise = Promise<Int>()
        promise.onCancel { Issue.record("Only a waiting task was cancelled, not the promise.") }
        let tasks = [awaiting(promise.async), awaiting(promise.async)]
        for task in tasks {
            task.cancel()
            await #expect(throws: CancellationError.self) { try await task.value }
            #expect(!promise.async.isCompleted)
        }
        // A task that is cancelled before `get()` does not wait, and cancels nothing either.
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

    @Test(arguments: Subscriber.all)
    func `Law 26: a task in get keeps the promise, also when that task is the last to leave`(
        _ subscriber: Subscriber
    ) async {
        let promise = Promise<Int>()
        let task = awaiting(promise.async)
        await watched { subscriber.subscribe(promise.async)() }
        #expect(!promise.async.isCompleted)
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
        #expect(!promise.async.isCompleted)
    }

    @Test(.alsoSimulated)
    func `Law 26: a cached request continues when callers that await it are cancelled`()
        async throws
    {
        let cache = LockedResource([String: Async<Int>](), lockedBy: .section)
        let requests = Box<[Promise<Int>]>([])
        let load: @Sendable (String) -> Async<Int> = { key in
            cache.mutate { known in
                if let request = known[key] { return request }
                let request = Promise<Int>()
                requests.withValue { $0.append(request) }
                known[key] = request.async
                return request.async
            }
        }
        var rng = SeededRNG(seed: 26)
        let callers = (0..<100).map { _ in
            (startedTask { try await load("wren").get() }, rng.next(below: 2) == 0)
        }
        for (task, isCancelled) in callers where isCancelled { task.cancel() }
        for (task, isCancelled) in callers where isCancelled {
            await #expect(throws: CancellationError.self) { try await task.value }
        }
        requests.value[0].succeed(4)
        for (task, isCancelled) in callers where !isCancelled { #expect(try await task.value == 4) }
        #expect(requests.value.count == 1)
    }

    // MARK: - Sharing

    @Test(arguments: Subscriber.all)
    func `Law 26: a shared Async is cancelled by its own cancel, not by its subscribers`(
        _ subscriber: Subscriber
    ) async {
        await watched {
            for endsItself in [true, false] {
                let promise = Promise<Int>()
                let cancellations = Box(0)
                promise.onCancel { cancellations.withValue { $0 += 1 } }
                let shared = promise.async.shared()
                subscriber.subscribe(shared)()
                subscriber.subscribe(shared.map { $0 })()
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

    @Test func `Law 26: neither a timeout nor a combinator cancels a shared Async`() {
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

    // MARK: - Taps

    @Test(arguments: Subscriber.all)
    func `Law 26: a tap does not keep a promise whose last subscriber leaves, and is notified`(
        _ subscriber: Subscriber
    ) async {
        await watched {
            let promise = Promise<Int>()
            let notified = Box<[String]>([])
            promise.async.tap { outcome in
                notified.withValue {
                    $0.append((try? outcome.get()) == nil ? "cancelled" : "value")
                }
            }
            let leave = subscriber.subscribe(promise.async)
            promise.async.tap(on: .global) { _ in notified.withValue { $0.append("elsewhere") } }
            leave()
            waitUntil { promise.async.isCompleted && notified.value.count == 2 }
            #expect(promise.async.error is CancellationError)
            #expect(notified.value.sorted() == ["cancelled", "elsewhere"])
        }
    }

    @Test func `Law 26: a tap cancels nothing, and is notified of every outcome`() {
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

    @Test func `Law 25: taps and callbacks are called in the order of registration`() {
        var rng = SeededRNG(seed: 25)
        for _ in 0..<200 {
            let promise = Promise<Int>()
            let log = Box<[Int]>([])
            let count = rng.next(below: 8) + 1
            for number in 0..<count {
                let note: @Sendable (Result<Int, any Error>) -> Void = { _ in
                    log.withValue { $0.append(number) }
                    guard number == 0 else { return }
                    promise.async.tap { _ in log.withValue { $0.append(count) } }
                    promise.async.onComplete { _ in log.withValue { $0.append(count + 1) } }
                }
                if rng.next(below: 2) == 0 {
                    promise.async.tap(note)
                } else {
                    promise.async.onComplete(note)
                }
            }
            promise.succeed(1)
            #expect(log.value == Array(0...(count + 1)))
        }
    }

    @Test func `Law 25: a tap runs once, on its context, also if that context runs each job twice`()
    {
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

    @Test func `Law 26: an Async that is shared twice is cancelled once, by its own cancel`() {
        let promise = Promise<Int>()
        let inner = promise.async.shared()
        let shared = inner.shared()
        shared.map { $0 }.cancel()
        #expect(!shared.isCompleted)
        #expect(shared.cancel())
        #expect(!shared.cancel())
        // No subscriber cancels a shared one, and the outer one is a subscriber of the inner one.
        #expect(!inner.isCompleted && !promise.async.isCompleted)
        #expect(inner.cancel())
        #expect(promise.async.error is CancellationError)
    }
}
