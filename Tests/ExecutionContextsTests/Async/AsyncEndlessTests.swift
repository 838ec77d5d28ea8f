import ExecutionContexts
import ExecutionContextsTesting
import Foundation
import TestSupport
import Testing

/// A future that never completes is freed with its last handle, as are its subscribers (law 10).
///
/// A subscriber that is kept can still be described, cancelled and waited for (law 26).
@Suite(.patient)
struct AsyncEndlessTests {
    private static func never(_ value: Int = 1) -> Async<Int> {
        Async(.success(value)).delay(.seconds(Int64.max), on: .global)
    }

    /// A kind of subscriber of a future that never completes.
    struct Subscriber: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let make: @Sendable (_ never: Async<Int>, _ sentinel: Sentinel) -> [Any]

        init(_ name: String, _ make: @escaping @Sendable (Async<Int>, Sentinel) -> [Any]) {
            testDescription = name
            self.make = make
        }

        static let all: [Subscriber] = [
            Subscriber("a callback") { [$0.onComplete { [sentinel = $1] _ in _ = sentinel }] },
            Subscriber("map") { [$0.map { [sentinel = $1] _ in _ = sentinel }] },
            Subscriber("maps") {
                [$0.map { $0 }.map { $0 }.map { [sentinel = $1] _ in _ = sentinel }]
            },
            Subscriber("two maps") { never, sentinel in
                [
                    never.map { _ in _ = sentinel },
                    never.map { _ in _ = sentinel }.onComplete { _ in },
                ]
            },
            Subscriber("first") { source, sentinel in
                [Async.first(of: [source, never()]).map { _ in _ = sentinel }]
            },
            Subscriber("all") { never, sentinel in
                [Async.all([Async(.success(1)), never, never]).map { _ in _ = sentinel }]
            },
            Subscriber("allSettled") { never, sentinel in
                [Async.allSettled([Async(.success(1)), never]).map { _ in _ = sentinel }]
            },
            Subscriber("firstCompletion") { never, sentinel in
                [Async.firstCompletion(of: [never, never]).map { _ in _ = sentinel }]
            },
            Subscriber("andThen") { [$0.andThen { [sentinel = $1] _ in _ = sentinel }] },
            Subscriber("lazy") { never, sentinel in
                [Async.lazy { never }.map { _ in _ = sentinel }]
            },
            Subscriber("lazy that never begins") { never, sentinel in
                [Async.lazy { withExtendedLifetime(sentinel) { never } }]
            },
            Subscriber("an iteration of completions") { never, sentinel in
                let map = never.map { _ in _ = sentinel }
                return [Async.completions(of: [map]).makeAsyncIterator(), map]
            },
            Subscriber("zip") { [$0.zip(Async(.success($1)))] },
            Subscriber("traverse") { _, sentinel in
                [Async.traverse(0..<3, atMost: 2) { _ in never() }.map { _ in _ = sentinel }]
            },
            Subscriber("a token") { never, sentinel in
                [never.onComplete(while: InvalidationToken()) { _ in _ = sentinel }]
            },
            Subscriber("a promise that follows") { never, sentinel in
                let promise = Promise<Int>()
                promise.onCancel { _ = sentinel }
                promise.follow(never)
                return [promise.async]
            },
            Subscriber("flatMap") { never, sentinel in
                [Async(.success(1)).flatMap { _ in never }.map { _ in _ = sentinel }, never]
            },
            Subscriber("retry") { _, sentinel in
                [
                    Async.retry(attempts: 2, on: .immediate) { _ in
                        _ = sentinel; return never()
                    }
                ]
            },
            Subscriber("delay") {
                [
                    $0.delay(.seconds(Int64.max), on: .global),
                    $0.map { [sentinel = $1] _ in _ = sentinel },
                ]
            },
            Subscriber("shielded") { [$0.shielded().map { [sentinel = $1] _ in _ = sentinel }] },
        ]
    }

    @Test(arguments: Subscriber.all)
    func `Law 10: a subscriber of a future that never completes is freed with its last handle`(
        _ subscriber: Subscriber
    ) {
        let sentinels = Sentinels()
        do {
            let handles = subscriber.make(Self.never(), sentinels.make())
            #expect(sentinels.living == 1)
            withExtendedLifetime(handles) {}
        }
        #expect(sentinels.living == 0)
    }

    @Test
    func `Law 26: a future whose source has been freed can be described, cancelled and waited for`()
    {
        let derived = Self.never().map { $0 }.map { $0 }
        let joined = Async.first(of: [Self.never().map { $0 }, Self.never()])
        let promise = Promise<Int>()
        promise.follow(Self.never())
        let token = InvalidationToken()
        Self.never().onComplete(while: token) { _ in }
        for async in [derived, joined, promise.async] {
            #expect("\(async)".hasPrefix("Async(waits for"))
            #expect(throws: AsyncError.timedOut(after: .zero)) { try async.wait(timeout: .zero) }
            #expect(async.cancel())
            #expect(async.error is CancellationError)
        }
        token.invalidate()
    }

    @Test func `Law 26: cancelling reaches a source and a subscriber of which a handle is left`() {
        let up = Self.never()
        up.map { $0 }.map { $0 }.cancel()
        #expect(up.error is CancellationError)
        let down = Self.never()
        let end = down.map { $0 }.map { $0 }
        down.cancel()
        #expect(end.error is CancellationError)
    }

    @Test
    func `Law 10: a function that calls itself through flatMap keeps one link, not one a call`() {
        let context = ManualContext()
        let calls = Box(0)
        @Sendable func loop() -> Async<Int> {
            context.submit { calls.withValue { $0 += 1 } }.flatMap { _ in
                calls.value < 1000 ? loop() : Async(.success(7))
            }
        }
        @Sendable func hopping() -> Async<Int> {
            context.submit { calls.withValue { $0 += 1 } }.flatMap(on: context) { _ in
                calls.value < 1000 ? hopping() : Async(.success(7))
            }
        }
        @Sendable func failing() -> Async<Int> {
            context.submit { calls.withValue { $0 += 1 } }.flatMap { _ in throw Oops() }.flatRecover
            { _ in
                calls.value < 1000 ? failing() : Async(.success(7))
            }
        }
        for start in [loop, hopping, failing] {
            calls.value = 0
            let end = start().map { $0 + 1 }
            while calls.value < 900 { context.step() }
            let links = "\(end)".components(separatedBy: " <- ").count
            #expect(links <= 6, "\(end)")
            context.runReady()
            #expect(end.value == 8)
        }
    }

    @Test func `Law 26: a loop of flatMap can be cancelled, and a step with a callback continues`()
    {
        let context = ManualContext()
        let held = Box<[Async<Int>]>([])
        @Sendable func loop(_ number: Int) -> Async<Int> {
            let async = context.submit { number }.flatMap { loop($0 + 1) }
            if number == 3 { held.withValue { $0.append(async) } }
            return async
        }
        let end = loop(0)
        for _ in 0..<10 { context.step() }
        #expect(end.cancel())
        // Only the loop subscribed to step 3.
        #expect(held.value[0].error is CancellationError)
        context.runReady()
        #expect(context.readyCount == 0)

        held.value = []
        let wanted = loop(0)
        for _ in 0..<5 { context.step() }
        held.value[0].onComplete { _ in }
        wanted.cancel()
        #expect(!held.value[0].isCompleted)
        for _ in 0..<5 { context.step() }
        #expect(!held.value[0].isCompleted)
        held.value[0].cancel()
        context.runReady()
        #expect(context.readyCount == 0)
    }

    @Test
    func `Law 24: a flatMap whose function returns a future that waits for it ends with an error`()
    {
        let context = ManualContext()
        let end = Box<Async<Int>?>(nil)
        end.value = Async(.success(1)).flatMap(on: context) { _ in
            context.submit { 1 }.flatMap { _ in end.value! }
        }
        context.runReady()
        #expect(end.value?.error as? AsyncError == .waitsForItself)
        end.value = nil
    }
}
