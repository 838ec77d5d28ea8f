import ExecutionContexts
import ExecutionContextsTesting
import Foundation
import Testing

/// What will never come keeps nothing once its handles are gone, and what waits for it is safe (laws 10 and 26).
@Suite(.timeLimit(.minutes(30)))
struct AsyncEndlessTests {
    private static func never(_ value: Int = 1) -> Async<Int> {
        Async(.success(value)).delay(.infinity, on: .global)
    }

    /// What can wait for one that never comes.
    struct Waiter: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let make: @Sendable (_ never: Async<Int>, _ sentinel: Sentinel) -> [Any]

        init(_ name: String, _ make: @escaping @Sendable (Async<Int>, Sentinel) -> [Any]) {
            testDescription = name
            self.make = make
        }

        static let all: [Waiter] = [
            Waiter("a callback") { [$0.onComplete { [sentinel = $1] _ in _ = sentinel }] },
            Waiter("map") { [$0.map { [sentinel = $1] _ in _ = sentinel }] },
            Waiter("maps") { [$0.map { $0 }.map { $0 }.map { [sentinel = $1] _ in _ = sentinel }] },
            Waiter("two maps") { never, sentinel in
                [never.map { _ in _ = sentinel }, never.map { _ in _ = sentinel }.onComplete { _ in }]
            },
            Waiter("first") { [Async.first(of: [$0, never()]).map { [sentinel = $1] _ in _ = sentinel }] },
            Waiter("all") { never, sentinel in
                [Async.all([Async(.success(1)), never, never]).map { _ in _ = sentinel }]
            },
            Waiter("zip") { [$0.zip(Async(.success($1)))] },
            Waiter("traverse") { _, sentinel in
                [Async.traverse(0..<3, atMost: 2) { _ in never() }.map { _ in _ = sentinel }]
            },
            Waiter("a token") { never, sentinel in
                [never.onComplete(while: InvalidationToken()) { _ in _ = sentinel }]
            },
            Waiter("a promise that follows") { never, sentinel in
                let promise = Promise<Int>()
                promise.onCancel { _ = sentinel }
                promise.follow(never)
                return [promise.async]
            },
            Waiter("flatMap") { never, sentinel in
                [Async(.success(1)).flatMap { _ in never }.map { _ in _ = sentinel }, never]
            },
            Waiter("retry") { _, sentinel in
                [
                    Async.retry(2, on: .immediate) { _ in
                        _ = sentinel; return never()
                    }
                ]
            },
            Waiter("delay") {
                [$0.delay(.infinity, on: .global), $0.map { [sentinel = $1] _ in _ = sentinel }]
            },
            Waiter("shielded") { [$0.shielded().map { [sentinel = $1] _ in _ = sentinel }] },
        ]
    }

    @Test(arguments: Waiter.all)
    func `Law 10: with all handles gone nothing is left of what waits for what never comes`(_ waiter: Waiter)
    {
        let sentinels = Sentinels()
        do {
            let handles = waiter.make(Self.never(), sentinels.make())
            #expect(sentinels.living == 1)
            withExtendedLifetime(handles) {}
        }
        #expect(sentinels.living == 0)
    }

    @Test func `Law 26: what waits for one that is gone can be described, cancelled and waited for`() {
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

    @Test func `Law 26: as long as a handle of it is there, cancelling goes up to it and down from it`() {
        let up = Self.never()
        up.map { $0 }.map { $0 }.cancel()
        #expect(up.error is CancellationError)
        let down = Self.never()
        let end = down.map { $0 }.map { $0 }
        down.cancel()
        #expect(end.error is CancellationError)
    }

    @Test func `Law 10: a function that calls itself by way of flatMap keeps one link, not one a turn`() {
        let context = ManualContext()
        let turns = Box(0)
        @Sendable func loop() -> Async<Int> {
            context.submit { turns.withValue { $0 += 1 } }.flatMap { _ in
                turns.value < 1000 ? loop() : Async(.success(7))
            }
        }
        @Sendable func hopping() -> Async<Int> {
            context.submit { turns.withValue { $0 += 1 } }.flatMap(on: context) { _ in
                turns.value < 1000 ? hopping() : Async(.success(7))
            }
        }
        @Sendable func failing() -> Async<Int> {
            context.submit { turns.withValue { $0 += 1 } }.flatMap { _ in throw Oops() }.flatRecover { _ in
                turns.value < 1000 ? failing() : Async(.success(7))
            }
        }
        for start in [loop, hopping, failing] {
            turns.value = 0
            let end = start().map { $0 + 1 }
            while turns.value < 900 { context.step() }
            let links = "\(end)".components(separatedBy: " <- ").count
            #expect(links <= 6, "\(end)")
            context.runReady()
            #expect(end.value == 8)
        }
    }

    @Test
    func `Law 26: a loop of flatMap can be cancelled at any turn, and one that is held goes its own way`() {
        let context = ManualContext()
        let held = Box<[Async<Int>]>([])
        @Sendable func loop(_ turn: Int) -> Async<Int> {
            let async = context.submit { turn }.flatMap { loop($0 + 1) }
            if turn == 3 { held.withValue { $0.append(async) } }
            return async
        }
        let end = loop(0)
        for _ in 0..<10 { context.step() }
        #expect(end.cancel())
        // The one of turn 3 was wanted by the other one only.
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

    @Test func `Law 24: a flatMap whose function brings the one that waits for it ends with an error`() {
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
