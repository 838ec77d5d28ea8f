import ExecutionContexts
import ExecutionContextsTesting
import Synchronization
import TestSupport
import Testing

/// The end of a future frees captures and calls callbacks that end the next one (laws 10, 25, 26).
@Suite(.patient)
struct AsyncFreeingTests {
    static let many = AsyncDepthTests.many

    /// Calls a closure when its last reference is released.
    final class OnFree: Sendable {
        let body: Work
        init(_ body: @escaping Work) { self.body = body }
        deinit { body() }
    }

    /// An operation that keeps a closure until it is cancelled.
    struct Keeper: Sendable, CustomTestStringConvertible {
        let testDescription: String
        /// Makes an operation that keeps `link`, and returns a closure that cancels it.
        let make: @Sendable (_ link: OnFree, _ manual: ManualContext) -> Work

        init(_ name: String, _ make: @escaping @Sendable (OnFree, ManualContext) -> Work) {
            testDescription = name
            self.make = make
        }

        private static func cancelling(_ async: Async<Int>, _ source: Promise<Int>? = nil) -> Work {
            { withExtendedLifetime(source) { _ = async.cancel() } }
        }

        static let all: [Keeper] = [
            Keeper("submit") { link, manual in
                cancelling(manual.submit { withExtendedLifetime(link) { 1 } })
            },
            Keeper("map") { link, _ in
                let source = Promise<Int>()
                return cancelling(
                    source.async.map { value in withExtendedLifetime(link) { value } }, source)
            },
            Keeper("map on a context") { link, manual in
                let source = Promise<Int>()
                return cancelling(
                    source.async.map(on: manual) { value in withExtendedLifetime(link) { value } },
                    source)
            },
            Keeper("map that is queued on its context") { link, manual in
                cancelling(
                    Async(.success(1)).map(on: manual) { value in
                        withExtendedLifetime(link) { value }
                    })
            },
            Keeper("flatMap") { link, _ in
                let source = Promise<Int>()
                return cancelling(
                    source.async.flatMap { value in
                        withExtendedLifetime(link) { Async(.success(value)) }
                    },
                    source)
            },
            Keeper("recover") { link, _ in
                let source = Promise<Int>()
                return cancelling(
                    source.async.recover { _ in withExtendedLifetime(link) { 1 } }, source)
            },
            Keeper("zip") { link, _ in
                let (one, other) = (Promise<Int>(), Promise<Int>())
                let sum = one.async.zip(other.async).map { pair in
                    withExtendedLifetime(link) { pair.0 }
                }
                return { withExtendedLifetime((one, other)) { _ = sum.cancel() } }
            },
            Keeper("traverse") { link, _ in
                let source = Promise<Int>()
                let all = Async.traverse([1, 2], atMost: 2) { number in
                    withExtendedLifetime(link) { source.async.map { $0 + number } }
                }
                return { withExtendedLifetime(source) { _ = all.cancel() } }
            },
            Keeper("retry") { link, manual in
                let source = Promise<Int>()
                return cancelling(
                    .retry(attempts: 3, backoff: .constant(.seconds(1)), on: manual) { _ in
                        withExtendedLifetime(link) { source.async }
                    }, source)
            },
            Keeper("andThen") { link, manual in
                let source = Promise<Int>()
                return cancelling(
                    source.async.andThen { _ in withExtendedLifetime(link) {} }, source)
            },
            Keeper("lazy") { link, manual in
                cancelling(
                    Async.lazy(on: manual) { withExtendedLifetime(link) { Async(.success(1)) } })
            },
            Keeper("lazy that is queued on its context") { link, manual in
                cancelling(
                    Async.lazy(on: manual) { withExtendedLifetime(link) { Async(.success(1)) } }
                        .map { $0 })
            },
            Keeper("allSettled") { link, _ in
                let source = Promise<Int>()
                return cancelling(
                    Async.allSettled([source.async]).map { outcomes in
                        withExtendedLifetime(link) { outcomes.count }
                    }, source)
            },
            Keeper("a callback with a token") { link, _ in
                let (source, token) = (Promise<Int>(), InvalidationToken())
                source.async.onComplete(while: token) { _ in withExtendedLifetime(link) {} }
                return { withExtendedLifetime(source) { token.invalidate() } }
            },
            Keeper("a callback") { link, _ in
                let source = Promise<Int>()
                source.async.onComplete { _ in withExtendedLifetime(link) {} }
                return { _ = source.async.cancel() }
            },
            Keeper("a delay") { link, manual in
                let delay = manual.schedule(after: .seconds(1)) { withExtendedLifetime(link) {} }
                return { delay.cancel() }
            },
            Keeper("a registration") { link, _ in
                let registry = Registry<OnFree>()
                let registration = registry.register(link)
                return { withExtendedLifetime(registry) { registration.deregister() } }
            },
        ]
    }

    @Test(arguments: Keeper.all)
    func `Law 10: captures whose deinit cancels the next operation use little stack`(
        _ keeper: Keeper
    ) async {
        await onSmallStack {
            let manual = ManualContext()
            let freed = Atomic<Int>(0)
            withExtendedLifetime(manual) {
                Self.cancelChain(keeper, manual) { freed.add(1, ordering: .relaxed) }
            }
            #expect(freed.load(ordering: .relaxed) == Self.many)
        }
    }

    private static func cancelChain(
        _ keeper: Keeper, _ manual: ManualContext, _ count: @escaping @Sendable () -> Void
    ) {
        var cancelNext: Work = {}
        for _ in 0..<many {
            let next = cancelNext
            cancelNext = keeper.make(
                OnFree {
                    count()
                    next()
                }, manual)
        }
        cancelNext()
    }

    @Test func `Law 26: async functions that cancel one another end on a small stack`() async {
        await onSmallStack {
            let first = Promise<Int>()
            var last = first.async
            let started = Box(0)
            for _ in 0..<Self.many {
                last = Async { [before = last] in
                    try await withTaskCancellationHandler {
                        started.withValue { $0 += 1 }
                        return try await before.get()
                    } onCancel: {
                        before.cancel()
                    }
                }
            }
            waitUntil { started.value == Self.many }
            last.cancel()
            #expect(last.error is CancellationError)
        }
    }

    // MARK: - Callbacks of completed futures

    /// Contexts that run a job on the calling thread, at once or where it is safe.
    static let inline: [@Sendable () -> any ExecutionContext] = [
        { ImmediateContext().named("inline") },
        { CriticalSection() },
        { SerialQueueContext(name: "inline").inlineIfCurrent() },
        { ClosureContext(name: "inline") { $0() } },
    ]

    @Test(arguments: inline.indices, [true, false])
    func `Law 25: callbacks that register the next one use little stack`(_ kind: Int, _ isTap: Bool)
        async
    {
        await onSmallStack {
            let context = Self.inline[kind]()
            let done = Promise<Void>()
            @Sendable func step(_ left: Int) {
                guard left > 0 else { return _ = done.succeed(()) }
                let ended = Async(.success(left))
                if isTap {
                    ended.tap(on: context) { _ in step(left - 1) }
                } else {
                    ended.onComplete(on: context) { _ in step(left - 1) }
                }
            }
            context.execute { step(Self.many) }
            #expect(throws: Never.self) { try done.async.wait() }
        }
    }

    // MARK: - Cancelling during a change of source

    @Test
    func `Law 10: a follower that is cancelled while it changes its source frees its function`()
        async
    {
        await underEverySchedule("move") { sim, onlooker in
            let (first, second) = (Promise<Int>(), Promise<Int>())
            let sentinels = Sentinels()
            let follower = first.async.flatMap { _ in second.async }
                .map { [probe = sentinels.make()] value in withExtendedLifetime(probe) { value } }
            sim.spawn("succeeds") { first.succeed(1) }
            sim.spawn("cancels") { follower.cancel() }
            sim.finally("the captures of a cancelled function are freed") {
                withExtendedLifetime((first, second, follower)) {
                    follower.error is CancellationError && sentinels.living == 0
                }
            }
        }
    }
}
