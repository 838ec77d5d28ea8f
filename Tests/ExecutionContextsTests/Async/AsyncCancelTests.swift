import Dispatch
import ExecutionContexts
import ExecutionContextsObservation
import ExecutionContextsTesting
import TestSupport
import Testing

/// When the last subscriber of an `Async` leaves, its promise is cancelled (law 26).
@Suite(.patient)
struct AsyncCancelTests {
    /// A kind of subscriber of an `Async`, and how it leaves.
    struct Subscriber: Sendable, CustomTestStringConvertible {
        let testDescription: String
        /// Subscribes, and returns a closure that leaves.
        let subscribe: @Sendable (Async<Int>) -> Work

        init(_ name: String, _ subscribe: @escaping @Sendable (Async<Int>) -> Work) {
            testDescription = name
            self.subscribe = subscribe
        }

        /// A derived future, which leaves when it is cancelled.
        init<Value: Sendable>(
            deriving name: String, _ derive: @escaping @Sendable (Async<Int>) -> Async<Value>
        ) {
            self.init(name) { source in
                let derived = derive(source)
                return { derived.cancel() }
            }
        }

        static let all: [Subscriber] = [
            Subscriber("a callback with a token") { source in
                let token = InvalidationToken()
                source.onComplete(while: token) { _ in }
                return { token.invalidate() }
            },
            Subscriber("a callback with a token on a context") { source in
                let token = InvalidationToken()
                source.onComplete(on: .global, while: token) { _ in }
                return { token.invalidate() }
            },
            Subscriber("a task in getOrCancel") { source in
                let task = startedTask { try await source.getOrCancel() }
                return { task.cancel() }
            },
            Subscriber("a promise that follows") { source in
                let promise = Promise<Int>()
                promise.follow(source)
                return { promise.async.cancel() }
            },
            Subscriber("a promise that follows and is completed directly") { source in
                let promise = Promise<Int>()
                promise.follow(source)
                return { promise.succeed(1) }
            },
            Subscriber(deriving: "map") { $0.map { $0 } },
            Subscriber(deriving: "map on a context") { $0.map(on: .global) { $0 } },
            Subscriber(deriving: "flatMap") { $0.flatMap { Async(.success($0)) } },
            Subscriber(deriving: "flatMap whose function ran") { source in
                Async(.success(1)).flatMap { _ in source }
            },
            Subscriber(deriving: "mapError") { $0.mapError { $0 } },
            Subscriber(deriving: "recover") { $0.recover { _ in 1 } },
            Subscriber(deriving: "flatRecover") { $0.flatRecover { _ in Async(.success(1)) } },
            Subscriber(deriving: "flatRecover whose function ran") { source in
                Async(error: Oops()).flatRecover { _ in source }
            },
            Subscriber(deriving: "mapError on a context") { $0.mapError(on: .global) { $0 } },
            Subscriber(deriving: "delay") { $0.delay(.seconds(1000), on: .global) },
            Subscriber(deriving: "timeout") { $0.timeout(after: .seconds(1000), on: .global) },
            Subscriber(deriving: "a delay that never ends") {
                $0.delay(.seconds(Int64.max), on: .global)
            },
            Subscriber(deriving: "an infinite timeout") {
                $0.timeout(after: .seconds(Int64.max), on: .global)
            },
            Subscriber(deriving: "a timeout at the end of time") {
                $0.timeout(after: .nanoseconds(Int64.max), on: .global)
            },
            Subscriber(deriving: "shared") { $0.shared() },
            Subscriber(deriving: "recorded") { $0.recorded(by: Recorder(), as: "value") },
            Subscriber(deriving: "zip of three") { $0.zip($0, Promise<Int>.undropped()) },
            Subscriber(deriving: "zip") { $0.zip(Promise<Int>.undropped()) },
            Subscriber(deriving: "zip with itself") { $0.zip($0) },
            Subscriber(deriving: "a diamond") { $0.map { $0 }.zip($0.map { $0 }, $0) },
            Subscriber(deriving: "all") { Async.all([$0, $0.map { $0 }]) },
            Subscriber(deriving: "first") {
                Async.first(of: [$0, $0.delay(.seconds(1), on: .global)])
            },
            Subscriber(deriving: "firstSuccess") {
                Async.firstSuccess(of: [Async(error: Oops()), $0])
            },
            Subscriber(deriving: "allSettled") {
                Async.allSettled([Async(error: Oops()), $0, Async(.success(1))])
            },
            Subscriber(deriving: "firstCompletion") { Async.firstCompletion(of: [$0, $0]) },
            Subscriber(deriving: "andThen") { $0.andThen { _ in } },
            Subscriber(deriving: "andThen on a context") { $0.andThen(on: .global) { _ in } },
            Subscriber(deriving: "lazy whose function ran") { source in
                let lazy = Async.lazy { source }
                _ = lazy.onComplete(while: InvalidationToken()) { _ in }
                return lazy
            },
            Subscriber("an iteration of completions") { source in
                let iterator = Box<CompletionsBox?>(CompletionsBox(of: [source, source]))
                return { iterator.value = nil }
            },
            Subscriber("a task in an iteration of completions") { source in
                let hasLeft = Box(false)
                let task = startedTask {
                    for await _ in Async.completions(of: [source, Promise<Int>.undropped()]) {}
                    hasLeft.value = true
                }
                return {
                    task.cancel()
                    // It leaves where its task goes on.
                    waitUntil { hasLeft.value }
                }
            },
            Subscriber("all that another source failed") { source in
                let other = Promise<Int>()
                let all = Async.all([source, other.async])
                return {
                    other.fail(Oops())
                    #expect(all.isCompleted)
                }
            },
            Subscriber("first that another source decided") { source in
                let other = Promise<Int>()
                let first = Async.first(of: [source, other.async])
                return {
                    other.succeed(2)
                    #expect(first.isCompleted)
                }
            },
            Subscriber(deriving: "retry") { source in
                Async.retry(attempts: 3, on: .immediate) { _ in source }
            },
            Subscriber(deriving: "traverse") { source in
                Async.traverse(0..<3, atMost: 2) { _ in source }
            },
            Subscriber("a traverse that another future failed") { source in
                let other = Promise<Int>()
                let all = Async.traverse(0..<3, atMost: 3) { $0 == 1 ? other.async : source }
                return {
                    other.fail(Oops())
                    #expect(all.isCompleted)
                }
            },
            Subscriber("a timeout that ran out") { source in
                let context = ManualContext()
                let timed = source.timeout(after: .seconds(1), on: context)
                return {
                    context.advance(by: .seconds(1))
                    #expect(timed.isCompleted)
                }
            },
            Subscriber(deriving: "a long chain") { source in
                (0..<100).reduce(source) { chain, _ in
                    chain.map { $0 }.flatMap { Async(.success($0)) }
                }
            },
        ]
    }

    @Test(arguments: Subscriber.all)
    func `Law 26: when the only subscriber leaves, the promise is cancelled`(
        _ subscriber: Subscriber
    ) async {
        await watched {
            let promise = Promise<Int>()
            let cancellations = Box(0)
            promise.onCancel { cancellations.withValue { $0 += 1 } }
            let leave = subscriber.subscribe(promise.async)
            #expect(!promise.async.isCompleted)
            leave()
            waitUntil { promise.async.isCompleted }
            #expect(promise.async.error is CancellationError)
            waitUntil { cancellations.value > 0 }
            leave()
            #expect(cancellations.value == 1)
        }
    }

    /// By 5, which does not divide their number, each comes in both places.
    private static let pairs = sample(
        Subscriber.all.flatMap { first in Subscriber.all.map { (first, $0) } }, every: 5)

    @Test(arguments: pairs)
    func
        `Law 26: the promise outlives the first of two subscribers, and is cancelled with the second one`(
            _ first: Subscriber, _ second: Subscriber
        ) async
    {
        await watched {
            let promise = Promise<Int>()
            let leaveFirst = first.subscribe(promise.async)
            let leaveSecond = second.subscribe(promise.async)
            leaveFirst()
            #expect(!promise.async.isCompleted)
            leaveSecond()
            waitUntil { promise.async.isCompleted }
            #expect(promise.async.error is CancellationError)
        }
    }

    @Test(arguments: Subscriber.all)
    func `Law 26: a subscriber that leaves after the end changes nothing`(_ subscriber: Subscriber)
        async
    {
        await watched {
            let promise = Promise<Int>()
            let cancellations = Box(0)
            promise.onCancel { cancellations.withValue { $0 += 1 } }
            let leave = subscriber.subscribe(promise.async)
            promise.succeed(1)
            leave()
            #expect(promise.async.value == 1)
            #expect(cancellations.value == 0)
        }
    }

    @Test(arguments: Subscriber.all)
    func `Law 26: a callback keeps the promise when other subscribers leave`(
        _ subscriber: Subscriber
    ) async {
        await watched {
            let promise = Promise<Int>()
            let calls = Box(0)
            promise.async.onComplete { _ in calls.withValue { $0 += 1 } }
            subscriber.subscribe(promise.async)()
            #expect(!promise.async.isCompleted)
            promise.succeed(1)
            #expect(calls.value == 1)
        }
    }

    @Test(arguments: Subscriber.all)
    func `Law 26: a shielded Async that is cancelled keeps its promise`(_ subscriber: Subscriber)
        async
    {
        await watched {
            let promise = Promise<Int>()
            let shielded = promise.async.shielded()
            subscriber.subscribe(shielded)()
            waitUntil { shielded.isCompleted }
            #expect(shielded.error is CancellationError)
            #expect(!promise.async.isCompleted)
            // The shielded one keeps the promise, also when all other subscribers leave.
            subscriber.subscribe(promise.async)()
            #expect(!promise.async.isCompleted)
        }
    }
}
