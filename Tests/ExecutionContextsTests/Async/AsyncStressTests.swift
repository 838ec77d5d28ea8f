import Dispatch
import ExecutionContexts
import ExecutionContextsTesting
import Foundation
import TestSupport
import Testing

/// Many threads use one `Async`: it ends once, and each callback is called once (laws 24, 25).
@Suite(.serialized, .patient)
struct AsyncStressTests {
    /// One promise and what is recorded of it.
    private final class World: Sendable {
        let promise = Promise<Sentinel>()
        let sentinels = Sentinels()
        let context = SerialQueueContext(name: "stress")
        let isWanted: Bool
        /// How many completions were accepted.
        let wins = Box(0)
        /// For each callback, how often it was called.
        let calls = Box<[Int]>([])
        /// The identities of the outcomes that callbacks received.
        let seen = Box<Set<ObjectIdentifier?>>([])
        let tokenCalls = Box<[Int]>([])
        /// How many calls came after their token was invalidated.
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

    @Test
    func
        `Law 24, 25: all callbacks get one outcome while threads complete, register, cancel, invalidate`()
        async
    {
        await watched {
            let worlds = (0..<rounds(debug: 60, release: 1500)).map { World(isWanted: $0 % 2 == 0) }
            let complete: @Sendable (World) -> Void = {
                $0.win($0.promise.succeed($0.sentinels.make()))
            }
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
                world.promise.async.flatMap(on: world.context) { Async(.success($0)) }.cancel()
            }
            let cancelAll: @Sendable (World) -> Void = {
                if !$0.isWanted { $0.promise.async.cancel() }
            }
            race(
                worlds,
                [
                    complete, complete, complete, fail, fail, fail, registerHere, registerHere,
                    registerHere,
                    registerThere, registerThere, registerWithTokens, registerWithTokens,
                    cancelBranches,
                    cancelBranches, cancelAll,
                ])
            for world in worlds {
                // The jobs submitted so far run before this.
                world.context.sync {}
                let isCancelled = world.promise.async.error is CancellationError
                #expect(world.wins.value == (isCancelled ? 0 : 1))
                #expect(!(isCancelled && world.isWanted))
                #expect(world.calls.value.allSatisfy { $0 == 1 }, "\(world.calls.value)")
                #expect(world.tokenCalls.value.allSatisfy { $0 <= 1 })
                #expect(world.late.value == 0, "called after the token was invalidated")
                #expect(world.seen.value.count <= 1, "callbacks got different outcomes")
                #expect(world.sentinels.living == (isCancelled ? 0 : 1))
            }
        }
    }

    @Test
    func `Law 25: callbacks that one thread registers while another completes keep their order`()
        async
    {
        await watched {
            struct World: Sendable {
                let promise = Promise<Int>()
                let context = SerialQueueContext(name: "order")
                let logs = (Box<[Int]>([]), Box<[Int]>([]))
            }
            let worlds = (0..<rounds(debug: 200, release: 5000)).map { _ in World() }
            race(
                worlds,
                [
                    { $0.promise.succeed(1) },
                    { world in
                        for number in 0..<30 {
                            world.promise.async.onComplete { _ in
                                world.logs.0.withValue { $0.append(number) }
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
}
