import Dispatch
import ExecutionContexts
import ExecutionContextsTesting
import Foundation
import Testing

/// Many threads at one `Async`: it ends once, and everybody is told once and the same (laws 24, 25, 26).
@Suite(.serialized, .timeLimit(.minutes(5)))
struct AsyncStressTests {
    /// One promise and everything that becomes of it.
    private final class World: Sendable {
        let promise = Promise<Sentinel>()
        let sentinels = Sentinels()
        let context = SerialQueueContext(label: "stress")
        let isWanted: Bool
        /// Who completed it, as far as that was said.
        let wins = Box(0)
        /// What was registered, and how often each was called.
        let calls = Box<[Int]>([])
        /// The outcomes that were seen, by identity.
        let seen = Box<Set<ObjectIdentifier?>>([])
        let tokenCalls = Box<[Int]>([])
        let late = Box(0)

        init(isWanted: Bool) {
            self.isWanted = isWanted
            if isWanted { register(on: .immediate) }
        }

        func win(_ won: Bool) { if won { wins.withValue { $0 += 1 } } }

        private func see(_ outcome: Result<Sentinel, any Error>) {
            let identity: ObjectIdentifier? =
                switch outcome {
                case .success(let sentinel): ObjectIdentifier(sentinel)
                case .failure(let error): (error as? Sentinel).map(ObjectIdentifier.init)
                }
            seen.withValue { _ = $0.insert(identity) }
        }

        func register(on context: some ExecutionContext) {
            let index = calls.withValue { calls in
                calls.append(0)
                return calls.count - 1
            }
            promise.async.onComplete(on: context) { [self] outcome in
                calls.withValue { $0[index] += 1 }
                see(outcome)
            }
        }

        /// Registers with a token, which is invalidated on the context.
        func registerWithToken() {
            let token = InvalidationToken()
            let isInvalid = Box(false)
            let index = tokenCalls.withValue { calls in
                calls.append(0)
                return calls.count - 1
            }
            promise.async.onComplete(on: context, while: token) { [self] outcome in
                if isInvalid.value { late.withValue { $0 += 1 } }
                tokenCalls.withValue { $0[index] += 1 }
                see(outcome)
            }
            context.execute {
                token.invalidate()
                isInvalid.value = true
            }
        }
    }

    @Test func `Law 24, 25: threads complete, register, cancel and invalidate, and all see the one outcome`()
        async
    {
        await watched {
            let worlds = (0..<rounds(debug: 60, release: 1500)).map { World(isWanted: $0 % 2 == 0) }
            let complete: @Sendable (World) -> Void = { $0.win($0.promise.succeed($0.sentinels.make())) }
            let fail: @Sendable (World) -> Void = { $0.win($0.promise.fail($0.sentinels.make())) }
            let registerHere: @Sendable (World) -> Void = { world in
                for _ in 0..<4 { world.register(on: .immediate) }
            }
            let registerThere: @Sendable (World) -> Void = { world in
                for _ in 0..<4 { world.register(on: world.context) }
            }
            let registerWithTokens: @Sendable (World) -> Void = { world in
                for _ in 0..<4 { world.registerWithToken() }
            }
            let cancelBranches: @Sendable (World) -> Void = { world in
                for _ in 0..<4 { world.promise.async.map { $0 }.cancel() }
                world.promise.async.flatMap(on: world.context) { Async(value: $0) }.cancel()
            }
            let cancelAll: @Sendable (World) -> Void = { if !$0.isWanted { $0.promise.async.cancel() } }
            race(
                worlds,
                [
                    complete, complete, complete, fail, fail, fail, registerHere, registerHere, registerHere,
                    registerThere, registerThere, registerWithTokens, registerWithTokens, cancelBranches,
                    cancelBranches, cancelAll,
                ])
            for world in worlds {
                // What was submitted runs before this.
                world.context.sync {}
                let isCancelled = world.promise.async.error is CancellationError
                #expect(world.wins.value == (isCancelled ? 0 : 1))
                #expect(!(isCancelled && world.isWanted))
                #expect(world.calls.value.allSatisfy { $0 == 1 }, "\(world.calls.value)")
                #expect(world.tokenCalls.value.allSatisfy { $0 <= 1 })
                #expect(world.late.value == 0, "called after the token was invalidated")
                #expect(world.seen.value.count <= 1, "told different outcomes")
                #expect(world.sentinels.living == (isCancelled ? 0 : 1))
            }
        }
    }

    @Test func `Law 25: callbacks that one thread registers while others complete keep their order`() async {
        await watched {
            struct World: Sendable {
                let promise = Promise<Int>()
                let context = SerialQueueContext(label: "order")
                let logs = (Box<[Int]>([]), Box<[Int]>([]))
            }
            let worlds = (0..<rounds(debug: 200, release: 5000)).map { _ in World() }
            race(
                worlds,
                [
                    { $0.promise.succeed(1) },
                    { world in
                        for number in 0..<30 {
                            world.promise.async.onComplete { _ in world.logs.0.withValue { $0.append(number) }
                            }
                            world.promise.async.onComplete(on: world.context) { _ in
                                world.logs.1.withValue { $0.append(number) }
                            }
                        }
                    },
                ])
            for world in worlds {
                world.context.sync {}
                #expect(world.logs.0.value == Array(0..<30))
                #expect(world.logs.1.value == Array(0..<30))
            }
        }
    }

    // MARK: - Races of a cancellation

    /// How something comes to follow another `Async` while it may be cancelled.
    enum Follower: CaseIterable, Sendable {
        case flatMap, flatMapOnContext, flatRecover, retry, promise, all, traverse

        /// Follows what `brought` returns, when `begin` is completed.
        func follow(_ begin: Async<Int>, _ brought: @escaping @Sendable () -> Async<Int>) -> Async<Int> {
            switch self {
            case .flatMap: return begin.flatMap { _ in brought() }
            case .flatMapOnContext:
                return begin.flatMap(on: ClosureContext { work in work() }) { _ in brought() }
            case .flatRecover:
                return begin.flatMap { _ in Async<Int>(error: Oops()) }.flatRecover { _ in brought() }
            case .retry:
                return begin.flatMap { _ in
                    Async.retry(3, on: .immediate) { number in
                        if number < 3 { throw Oops() }
                        return brought()
                    }
                }
            case .promise:
                let promise = Promise<Int>()
                begin.onComplete { _ in promise.follow(brought()) }
                return promise.async
            case .all: return begin.flatMap { _ in Async.all([Async(value: 1), brought()]).map { $0[1] } }
            case .traverse:
                return begin.flatMap { _ in
                    Async.traverse(0..<2, atMost: 1) { $0 == 0 ? Async(value: 1) : brought() }.map { $0[1] }
                }
            }
        }
    }

    @Test(arguments: Follower.allCases)
    func
        `Law 26: who is cancelled while it begins to follow another one leaves that one, and nobody else suffers`(
            _ follower: Follower
        ) async
    {
        await watched {
            final class World: Sendable {
                let begin = Promise<Int>()
                let brought = Promise<Int>()
                let calls = Box(0)
                let end: Box<Async<Int>?> = Box(nil)
                let isShared: Bool

                init(_ follower: Follower, isShared: Bool) {
                    self.isShared = isShared
                    begin.async.onComplete { _ in }
                    if isShared { join(2) }
                    end.value = follower.follow(begin.async) { [brought] in brought.async }
                }

                func join(_ count: Int) {
                    for _ in 0..<count {
                        brought.async.onComplete { [self] _ in calls.withValue { $0 += 1 } }
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
                    #expect(world.brought.succeed(1))
                    #expect(world.calls.value == 4)
                } else {
                    // Either it was never followed, or it was left.
                    let wasFollowed = world.brought.async.isCompleted
                    #expect(!wasFollowed || world.brought.async.error is CancellationError)
                    #expect(world.brought.async.description.contains("nobody waits") || wasFollowed)
                }
            }
        }
    }

    @Test(arguments: [true, false], [true, false])
    func `Law 26: a map on a context that is cancelled while its source ends frees its captures once`(
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
            let queue = SerialQueueContext(label: "maps")
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
    func `Law 26: tokens that are invalidated while the value comes free their captures, called or not`()
        async
    {
        await watched {
            struct World: Sendable {
                let promise = Promise<Int>()
                let token = InvalidationToken()
                let sentinels = Sentinels()
                let calls = Box(0)
            }
            let context = SerialQueueContext(label: "tokens")
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

    // MARK: - Races of several

    @Test(arguments: 0..<3)
    func `Law 24: joints whose members end and that are cancelled at the same time end once`(_ goal: Int)
        async
    {
        await watched {
            struct World: Sendable {
                let promises = (0..<4).map { _ in Promise<Int>() }
                let joint = Box<Async<Int>?>(nil)
                let calls = Box(0)

                init(_ goal: Int) {
                    let asyncs = promises.map(\.async)
                    let calls = calls
                    joint.value =
                        switch goal {
                        case 0: Async.all(asyncs).map { $0.reduce(0, +) }
                        case 1: Async.first(of: asyncs)
                        default: Async.firstSuccess(of: asyncs)
                        }
                    joint.value?.onComplete { _ in calls.withValue { $0 += 1 } }
                }
            }
            let worlds = (0..<rounds(debug: 200, release: 5000)).map { _ in World(goal) }
            race(
                worlds,
                [
                    { for promise in $0.promises.prefix(2) { promise.succeed(1) } },
                    {
                        $0.promises[2].fail(Oops())
                        $0.promises[3].succeed(1)
                    },
                    { if $0.calls.value == 0 { $0.joint.value?.cancel() } },
                ])
            for world in worlds {
                #expect(world.calls.value == 1)
                // Those that had not ended by then have been left.
                for promise in world.promises { #expect(promise.async.isCompleted) }
            }
        }
    }

    @Test
    func
        `Law 24: a traversal on the global context that is cancelled somewhere ends once, and forgets everything`()
        async
    {
        await watched {
            let sentinels = Sentinels()
            let ended = DispatchSemaphore(value: 0)
            let count = rounds(debug: 60, release: 1000)
            for round in 0..<count {
                let sentinel = sentinels.make()
                let values = Async.traverse(0..<50, atMost: 4, on: .global) { number in
                    _ = sentinel
                    if round % 5 == 4, number == 40 { throw Oops() }
                    return number % 2 == 0 ? Async(value: number) : GlobalContext().submit { number }
                }
                values.onComplete { outcome in
                    if let values = try? outcome.get() { #expect(values == Array(0..<50)) }
                    ended.signal()
                }
                if round % 5 != 0 { DispatchQueue.global().async { if round % 5 < 4 { values.cancel() } } }
            }
            for _ in 0..<count { ended.wait() }
            // What was on its way may still be.
            waitUntil { sentinels.living == 0 }
        }
    }

    @Test func `Law 24: limits, values and cancellations that race end a timed Async once`() async {
        await watched {
            let ended = DispatchSemaphore(value: 0)
            let count = rounds(debug: 200, release: 4000)
            let sentinels = Sentinels()
            for round in 0..<count {
                let promise = Promise<Sentinel>()
                promise.async.timeout(after: .microseconds(round % 200))
                    .delay(.microseconds(round % 50))
                    .onComplete { _ in ended.signal() }
                DispatchQueue.global().async { promise.succeed(sentinels.make()) }
            }
            for _ in 0..<count { ended.wait() }
            waitUntil { sentinels.living == 0 }
        }
    }

    @Test func `Law 26: tasks, threads and tokens come and go at one promise, and nobody is forgotten`() async
    {
        await watched {
            let worlds = (0..<rounds(debug: 60, release: 1000)).map { _ in Promise<Int>() }
            let ended = DispatchGroup()
            let visit: @Sendable (Promise<Int>) -> Void = { promise in
                ended.enter()
                let task = Task {
                    _ = try? await promise.async.get()
                    ended.leave()
                }
                let token = InvalidationToken()
                promise.async.onComplete(on: .global, while: token) { _ in }
                _ = try? promise.async.wait(timeout: .microseconds(50))
                task.cancel()
                token.invalidate()
                _ = try? promise.async.shielded().timeout(after: .microseconds(50)).wait()
            }
            race(worlds, [visit, visit, visit, { if Bool.random() { $0.succeed(1) } }])
            for promise in worlds { promise.async.cancel() }
            ended.wait()
        }
    }
}
