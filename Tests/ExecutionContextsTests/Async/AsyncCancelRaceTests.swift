import Dispatch
import ExecutionContexts
import ExecutionContextsTesting
import Foundation
import TestSupport
import Testing

/// Cancellations that race with completions and registrations (law 26).
@Suite(.serialized, .patient)
struct AsyncCancelRaceTests {
    /// A way in which a future begins to follow another one, and may be cancelled meanwhile.
    enum Follower: CaseIterable, Sendable {
        case flatMap, flatMapOnContext, flatRecover, retry, promise, all, traverse

        /// Follows the future of `inner`, once `begin` has completed.
        func follow(_ begin: Async<Int>, _ inner: @escaping @Sendable () -> Async<Int>) -> Async<
            Int
        > {
            switch self {
            case .flatMap: return begin.flatMap { _ in inner() }
            case .flatMapOnContext:
                return begin.flatMap(on: ClosureContext { work in work() }) { _ in inner() }
            case .flatRecover:
                return begin.flatMap { _ in Async<Int>(error: Oops()) }.flatRecover { _ in inner() }
            case .retry:
                return begin.flatMap { _ in
                    Async.retry(attempts: 3, on: .immediate) { number in
                        if number < 3 { throw Oops() }
                        return inner()
                    }
                }
            case .promise:
                let promise = Promise<Int>()
                begin.onComplete { _ in promise.follow(inner()) }
                return promise.async
            case .all:
                return begin.flatMap { _ in Async.all([Async(.success(1)), inner()]).map { $0[1] } }
            case .traverse:
                return begin.flatMap { _ in
                    Async.traverse(0..<2, atMost: 1) { $0 == 0 ? Async(.success(1)) : inner() }.map
                    {
                        $0[1]
                    }
                }
            }
        }
    }

    @Test(arguments: Follower.allCases)
    func `Law 26: a future cancelled as it begins to follow another one leaves it, and others stay`(
        _ follower: Follower
    ) async {
        await watched {
            final class World: Sendable {
                let begin = Promise<Int>()
                let inner = Promise<Int>()
                let calls = Box(0)
                let end: Box<Async<Int>?> = Box(nil)
                let isShared: Bool

                init(_ follower: Follower, isShared: Bool) {
                    self.isShared = isShared
                    begin.async.onComplete { _ in }
                    if isShared { join(2) }
                    end.value = follower.follow(begin.async) { [inner] in inner.async }
                }

                func join(_ count: Int) {
                    for _ in 0..<count {
                        inner.async.onComplete { [self] _ in calls.withValue { $0 += 1 } }
                    }
                }
            }
            let worlds = (0..<rounds(debug: 300, release: 10_000)).map {
                World(follower, isShared: $0 % 2 == 0)
            }
            race(
                worlds,
                [
                    { $0.begin.succeed(1) },
                    { $0.end.value?.cancel() },
                    { if $0.isShared { $0.join(2) } },
                ])
            for world in worlds {
                #expect(world.end.value?.error is CancellationError)
                if world.isShared {
                    #expect(world.inner.succeed(1))
                    #expect(world.calls.value == 4)
                } else {
                    // Either it never had a follower, or its follower has left.
                    let wasFollowed = world.inner.async.isCompleted
                    #expect(!wasFollowed || world.inner.async.error is CancellationError)
                    #expect(world.inner.async.description.contains("no subscribers") || wasFollowed)
                }
            }
        }
    }

    @Test(arguments: [true, false], [true, false])
    func `Law 26: a map that is cancelled while its source completes frees its captures once`(
        _ succeeds: Bool, _ isInline: Bool
    ) async {
        await watched {
            struct World: Sendable {
                let promise = Promise<Int>()
                let sentinels = Sentinels()
                let runs = Box(0)
                let mapped = Box<Async<Int>?>(nil)

                init(_ context: some ExecutionContext) {
                    promise.async.onComplete { _ in }
                    let (sentinel, runs) = (sentinels.make(), runs)
                    mapped.value = promise.async.map(on: context) { value in
                        _ = sentinel
                        runs.withValue { $0 += 1 }
                        return value
                    }
                }
            }
            let queue = SerialQueueContext(name: "maps")
            let inline = ClosureContext { work in work() }
            let worlds = (0..<rounds(debug: 500, release: 20_000)).map { _ in
                isInline ? World(inline) : World(queue)
            }
            let wins = Box(0)
            race(
                worlds,
                [
                    { if succeeds { $0.promise.succeed(1) } else { $0.promise.fail(Oops()) } },
                    { if $0.mapped.value?.cancel() == true { wins.withValue { $0 += 1 } } },
                ])
            queue.sync {}
            for world in worlds {
                #expect(world.mapped.value?.isCompleted == true)
                #expect(succeeds || world.runs.value == 0)
                #expect(world.sentinels.living == 0)
            }
            #expect(worlds.count { $0.mapped.value?.error is CancellationError } == wins.value)
        }
    }

    @Test
    func `Law 26: invalidating a token during the completion frees its callbacks, called or not`()
        async
    {
        await watched {
            struct World: Sendable {
                let promise = Promise<Int>()
                let token = InvalidationToken()
                let sentinels = Sentinels()
                let calls = Box(0)
            }
            let context = SerialQueueContext(name: "tokens")
            let worlds = (0..<rounds(debug: 300, release: 10_000)).map { _ in World() }
            let register: @Sendable (World) -> Void = { world in
                for index in 0..<3 {
                    let sentinel = world.sentinels.make()
                    let callback: @Sendable (Async<Int>.Outcome) -> Void = { _ in
                        _ = sentinel
                        world.calls.withValue { $0 += 1 }
                    }
                    if index == 1 {
                        world.promise.async.onComplete(on: context, while: world.token, callback)
                    } else {
                        world.promise.async.onComplete(while: world.token, callback)
                    }
                }
            }
            race(worlds, [register, { $0.promise.succeed(1) }, { $0.token.invalidate() }])
            context.sync {}
            for world in worlds {
                #expect(world.calls.value <= 3)
                #expect(world.sentinels.living == 0)
                #expect(world.promise.async.isCompleted)
            }
        }
    }
}
