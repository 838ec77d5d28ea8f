import Dispatch
import ExecutionContexts
import ExecutionContextsTesting
import Foundation
import TestSupport
import Testing

/// Whatever is derived from an `Async` and however it ends, nothing leaks (law 10).
@Suite(.patient)
struct AsyncLeakTests {
    typealias Source = Async<Sentinel>

    /// A way to derive a future. Its closures capture a sentinel, and most of them return it.
    struct Recipe: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let make: @Sendable (Source, Sentinels, ManualContext) -> Source

        init(
            _ name: String, _ make: @escaping @Sendable (Source, Sentinels, ManualContext) -> Source
        ) {
            testDescription = name
            self.make = make
        }

        static let all: [Recipe] = [
            Recipe("nothing") { source, _, _ in source },
            Recipe("map") { source, sentinels, _ in
                let sentinel = sentinels.make()
                return source.map { _ in sentinel }
            },
            Recipe("map on a context") { source, sentinels, context in
                let sentinel = sentinels.make()
                return source.map(on: context) { _ in sentinel }
            },
            Recipe("a map that throws") { source, sentinels, context in
                let sentinel = sentinels.make()
                return source.map(on: context) { _ in throw sentinel }
            },
            Recipe("flatMap") { source, sentinels, context in
                let sentinel = sentinels.make()
                return source.flatMap { _ in context.submit { sentinel } }
            },
            Recipe("flatMap on a context") { source, sentinels, context in
                let sentinel = sentinels.make()
                return source.flatMap(on: context) { _ in Async(.success(sentinel)) }
            },
            Recipe("mapError") { source, sentinels, context in
                let sentinel = sentinels.make()
                return source.mapError(on: context) { _ in sentinel }
            },
            Recipe("recover") { source, sentinels, context in
                let sentinel = sentinels.make()
                return source.recover(on: context) { _ in sentinel }
            },
            Recipe("flatRecover") { source, sentinels, context in
                let sentinel = sentinels.make()
                return source.flatRecover { _ in context.submit { sentinel } }
            },
            Recipe("delay") { source, _, context in source.delay(.seconds(1), on: context) },
            Recipe("timeout") { source, _, context in
                source.timeout(after: .seconds(1), on: context)
            },
            Recipe("a timeout that is never reached") { source, _, context in
                source.timeout(after: .seconds(1_000_000), on: context)
            },
            Recipe("shielded") { source, _, _ in source.shielded() },
            Recipe("zip") { source, sentinels, _ in
                source.zip(Async(.success(sentinels.make())), source).map { $0.1 }
            },
            Recipe("all") { source, sentinels, _ in
                Async.all([Async(.success(sentinels.make())), source]).map { $0[0] }
            },
            Recipe("all of several that end") { source, sentinels, context in
                let sentinel = sentinels.make()
                return Async.all([context.submit { sentinel }, source]).map { $0[0] }
            },
            Recipe("first") { source, sentinels, context in
                let sentinel = sentinels.make()
                return Async.first(of: [source, context.submit { sentinel }])
            },
            Recipe("firstSuccess") { source, sentinels, _ in
                Async.firstSuccess(of: [Async(error: sentinels.make()), source])
            },
            Recipe("allSettled") { source, sentinels, context in
                let sentinel = sentinels.make()
                return Async.allSettled([
                    context.submit { sentinel }, Async(error: sentinel), source,
                ]).map { try $0[0].get() }
            },
            Recipe("firstCompletion") { source, sentinels, context in
                let sentinel = sentinels.make()
                return Async.firstCompletion(of: [source, context.submit { sentinel }])
                    .map { try $0.outcome.get() }
            },
            Recipe("andThen") { source, sentinels, context in
                let sentinel = sentinels.make()
                return source.andThen { _ in _ = sentinel }.andThen(on: context) { _ in
                    _ = sentinel
                }
            },
            Recipe("lazy that begins") { source, sentinels, context in
                let sentinel = sentinels.make()
                return Async.lazy(on: context) {
                    withExtendedLifetime(sentinel) { source }
                }.map { $0 }
            },
            Recipe("lazy that never begins") { source, sentinels, context in
                let sentinel = sentinels.make()
                let lazy = Async.lazy(on: context) {
                    withExtendedLifetime(sentinel) { source }
                }
                lazy.tap { _ in _ = sentinel }
                return source
            },
            Recipe("retry that succeeds") { source, sentinels, context in
                let sentinel = sentinels.make()
                return Async.retry(attempts: 3, backoff: .constant(.seconds(1)), on: context) {
                    number in
                    if number < 2 { throw sentinel }
                    return source
                }
            },
            Recipe("retry that fails") { source, sentinels, context in
                let sentinel = sentinels.make()
                return Async.retry(attempts: 3, backoff: .constant(.seconds(1)), on: context) {
                    number in
                    if number < 2 { return source.flatMap { _ in throw sentinel } }
                    throw sentinel
                }
            },
            Recipe("traverse") { source, sentinels, context in
                let sentinel = sentinels.make()
                return Async.traverse(0..<5, atMost: 2, on: context) { number in
                    number % 2 == 0 ? source : Async(.success(sentinel))
                }.map { $0[1] }
            },
            Recipe("a traverse that fails") { source, sentinels, context in
                let sentinel = sentinels.make()
                return Async.traverse(0..<5, atMost: 3, on: context) { number in
                    if number == 2 { throw sentinel }
                    return source
                }.map { _ in sentinel }
            },
            Recipe("a promise that follows") { source, sentinels, _ in
                let promise = Promise<Sentinel>()
                let sentinel = sentinels.make()
                promise.onCancel { _ = sentinel }
                promise.follow(source)
                return promise.async
            },
            Recipe("a callback with a token") { source, sentinels, context in
                let sentinel = sentinels.make()
                let token = InvalidationToken()
                source.onComplete(on: context, while: token) { _ in _ = sentinel }
                source.onComplete(while: token) { _ in
                    _ = sentinel
                    token.invalidate()
                }
                return source
            },
        ]
    }

    /// How the source or the derived future ends.
    enum Ending: CaseIterable, Sendable {
        case value, error, dropped, cancelledSource, cancelledEnd, cancelledOnTheWay
    }

    @Test(arguments: Recipe.all, Ending.allCases)
    func `Law 10: an ended future without a handle frees its captures, its outcome and its context`(
        _ recipe: Recipe, _ ending: Ending
    ) {
        let sentinels = Sentinels()
        weak var kept: ManualContext?
        do {
            let context = ManualContext()
            kept = context
            var promise: Promise<Sentinel>? = Promise()
            guard let source = promise?.async else { return }
            let end = recipe.make(source, sentinels, context)
            let captured = sentinels.make()
            end.onComplete { _ in _ = captured }
            end.onComplete(on: context) { _ in _ = captured }
            // Some recipes have submitted jobs or delays by now, and some have not.
            context.advance(by: .milliseconds(1))
            switch ending {
            case .value: promise?.succeed(sentinels.make())
            case .error: promise?.fail(sentinels.make())
            case .dropped: promise = nil
            case .cancelledSource: source.cancel()
            case .cancelledEnd: end.cancel()
            case .cancelledOnTheWay:
                promise?.succeed(sentinels.make())
                end.cancel()
            }
            promise = nil
            context.advance(by: .seconds(20))
            #expect(end.isCompleted)
            #expect(context.readyCount == 0)
            #expect(context.delayedCount == 0)
        }
        #expect(sentinels.living == 0)
        #expect(kept == nil)
    }

    @Test(arguments: Recipe.all)
    func `Law 10: an ended Async keeps its outcome, and nothing else`(_ recipe: Recipe) {
        let sentinels = Sentinels()
        for ending in Ending.allCases {
            let end: Source
            let context = ManualContext()
            do {
                var promise: Promise<Sentinel>? = Promise()
                guard let source = promise?.async else { return }
                end = recipe.make(source, sentinels, context)
                switch ending {
                case .value, .cancelledOnTheWay: promise?.succeed(sentinels.make())
                case .error: promise?.fail(sentinels.make())
                case .dropped: promise = nil
                case .cancelledSource: source.cancel()
                case .cancelledEnd: end.cancel()
                }
                if ending == .cancelledOnTheWay { end.cancel() }
            }
            context.advance(by: .seconds(20))
            #expect(end.isCompleted)
            let isSentinel = end.value != nil || end.error is Sentinel
            #expect(sentinels.living == (isSentinel ? 1 : 0), "\(ending)")
        }
    }

    @Test(arguments: Recipe.all)
    func `Law 10: cancelling frees the captures of a queued job at once`(_ recipe: Recipe) {
        let sentinels = Sentinels()
        let context = ManualContext()
        let promise = Promise<Sentinel>()
        promise.async.onComplete { _ in }
        let end = recipe.make(promise.async, sentinels, context)
        let isSource =
            recipe.testDescription == "nothing"
            || recipe.testDescription == "a callback with a token"
        if isSource { return }
        end.cancel()
        #expect(sentinels.living == 0)
        context.advance(by: .seconds(20))
    }

    @Test
    func `Law 10: a kept Async keeps neither its submitted job nor its context after the job`()
        async
    {
        await withCheckedContinuation { continuation in
            let end = Farewell { continuation.resume() }
            let value = Box<[Async<Int>]>([])
            do {
                let context = ClosureContext { [end] work in
                    _ = end
                    work()
                }
                let submitted = context.submit { 1 }
                value.value = [
                    submitted, submitted.map(on: context) { $0 },
                    submitted.flatMap(on: context) { Async(.success($0)) },
                ]
            }
            // Kept until the context has been freed.
            Self.keep(value)
        }
        Self.kept.value = nil
    }

    private static let kept = Box<Box<[Async<Int>]>?>(nil)
    private static func keep(_ box: Box<[Async<Int>]>) { kept.value = box }

    @Test func `Law 10: very many callbacks, chains and promises leak nothing`() async {
        await offThePool {
            let sentinels = Sentinels()
            let count = rounds(debug: 10_000, release: 200_000)
            for _ in 0..<count {
                let promise = Promise<Sentinel>()
                promise.async.map { $0 }.flatMap { Async(.success($0)) }.onComplete { _ in }
                promise.succeed(sentinels.make())
            }
            #expect(sentinels.living == 0)
        }
    }
}
