import Dispatch
import ExecutionContexts
import ExecutionContextsTesting
import TestSupport
import Testing

/// The description of an `Async`: its outcome, or its sources and its subscribers.
@Suite(.patient)
struct AsyncDescriptionTests {
    @Test func `A completed Async describes its outcome`() {
        #expect("\(Async(.success(42)))" == "Async(42)")
        #expect("\(Async<Int>(error: Oops(number: 3)))" == "Async(failed: Oops(number: 3))")
        #expect("\(Async<String?>(.success(nil)))" == "Async(nil)")
        let promise = Promise<Int>()
        promise.async.cancel()
        #expect("\(promise.async)" == "Async(failed: CancellationError())")
    }

    @Test func `An open Async names the source location of its promise, and has no subscribers`() {
        let promise = Promise<Int>()
        let line = #line - 1
        #expect(
            "\(promise.async)"
                == "Async(waits for promise made at ExecutionContextsTests/AsyncDescriptionTests.swift:\(line); "
                + "no subscribers)")
    }

    @Test func `An Async names its subscribers, in order, with their contexts`() {
        let context = ManualContext(name: "shelf")
        let promise = Promise<Int>()
        let keep: [Any] = [
            promise.async.onComplete { _ in },
            promise.async.onComplete(on: context) { _ in },
            promise.async.onComplete(on: context, while: InvalidationToken()) { _ in },
            promise.async.map { $0 },
            promise.async.flatMap(on: context) { Async(.success($0)) },
            promise.async.zip(promise.async, promise.async),
        ]
        let description = "\(promise.async)"
        let subscribers =
            "subscribers: a callback on 'immediate', a callback on 'shelf', a callback on 'shelf' with a token, "
            + "map on 'immediate', flatMap on 'shelf', all of 3, all of 3, all of 3)"
        #expect(description.hasSuffix(subscribers), "\(description)")
        withExtendedLifetime(keep) {}
    }

    @Test func `Law 26: an Async says how many subscribers are interested`() {
        let promise = Promise<Int>()
        promise.async.tap { _ in }
        #expect("\(promise.async)".contains("without interest; 0 interested)"))
        promise.async.onComplete { _ in }
        #expect("\(promise.async)".hasSuffix("a callback on 'immediate'; 1 interested)"))
        let shared = promise.async.shared()
        #expect("\(shared)".hasSuffix("no subscribers; continues without any)"))
        let derived = shared.map { $0 }
        #expect("\(shared)".hasSuffix("map on 'immediate'; continues without any)"))
        withExtendedLifetime(derived) {}
    }

    @Test func `An Async names its sources, up to the promise or the submission at the head`() {
        let context = ManualContext(name: "shelf")
        let promise = Promise<Int>()
        let line = #line - 1
        let end = promise.async.map { $0 }.recover(on: context) { _ in 1 }.delay(
            .seconds(1), on: context
        )
        .timeout(after: .seconds(1), on: context).shielded()
        #expect(
            "\(end)"
                == "Async(waits for a shielded value <- timeout <- delay <- recover on 'shelf' <- "
                + "map on 'immediate' <- promise made at "
                + "ExecutionContextsTests/AsyncDescriptionTests.swift:\(line); no subscribers)")
        let submitted = "\(context.submit { 1 }.mapError { $0 })"
        #expect(
            submitted.contains("mapError on 'immediate' <- submitted to 'shelf' at "),
            "\(submitted)")
        #expect(submitted.contains("AsyncDescriptionTests.swift:"))
        let others = [
            "\(Async.first(of: [promise.async]))", "\(Async.firstSuccess(of: [promise.async]))",
            "\(Async.retry(attempts: 2, on: context) { _ in Async(.success(1)) })",
            "\(Async.traverse([1], atMost: 1, on: context) { Async(.success($0)) })",
        ]
        for (description, part) in zip(
            others, ["the first of 1", "the first success of 1", "retry", "traverse"])
        {
            #expect(description.hasPrefix("Async(waits for \(part);"), "\(description)")
        }
    }

    @Test func `An Async does not name a source that has completed`() {
        let context = ManualContext(name: "shelf")
        let promise = Promise<Int>()
        let returned = Promise<Int>()
        let end = promise.async.flatMap(on: context) { _ in returned.async }
        promise.succeed(1)
        // Its function is queued.
        #expect("\(end)" == "Async(waits for flatMap on 'shelf'; no subscribers)")
        context.runReady()
        #expect("\(end)".contains("flatMap on 'shelf' <- promise made at "), "\(end)")
    }

    @Test func `Many subscribers and long chains are abbreviated`() async {
        await offThePool {
            let promise = Promise<Int>()
            for _ in 0..<100 { promise.async.onComplete { _ in } }
            #expect("\(promise.async)".hasSuffix(" and 92 more)"))
            let end = (0..<1000).reduce(promise.async) { chain, _ in chain.map { $0 } }
            let description = "\(end)"
            #expect(description.contains(" <- 992 more <- promise made at "), "\(description)")
            #expect(description.count < 400)
        }
    }

    @Test func `A waiting task and a waiting thread are named`() async {
        let promise = Promise<Int>()
        let task = startedTask { try await promise.async.get() }
        await offThePool {
            onThreads([
                { _ = try? promise.async.wait() },
                {
                    waitUntil {
                        promise.async.waitingTasks == 1 && promise.async.waitingThreads == 1
                    }
                    promise.succeed(1)
                },
            ])
        }
        #expect((try? await task.value) == 1)
    }

    @Test
    func `Futures that wait for each other in a cycle are named once, and the cycle is named`() {
        let (first, second) = (Promise<Int>(), Promise<Int>())
        first.follow(second.async)
        second.follow(first.async)
        let description = "\(first.async)"
        #expect(description.contains("again, for ever"), "\(description)")
        #expect(first.async.cancel())
        #expect(second.async.error is CancellationError)
    }

    @Test func `Law 9: the name of a context may describe the Async that asks for it`() async {
        await watched {
            let promise = Promise<Int>()
            let isAsked = Box(false)
            let context = Chatty {
                if isAsked.withValue({ isAsked in (isAsked, isAsked = true).0 }) { return "quiet" }
                _ = promise.async.outcome
                return "chatty, of \(promise.async)"
            }
            promise.async.onComplete(on: context) { _ in }
            let description = "\(promise.async)"
            #expect(description.contains("a callback on 'chatty, of Async(waits"), "\(description)")
            #expect(description.contains("a callback on 'quiet'"))
        }
    }

    /// A context that computes its name.
    private struct Chatty: ExecutionContext {
        let makeName: @Sendable () -> String
        var name: String { makeName() }
        func execute(_ work: @escaping Work) { work() }
    }

    @Test func `An Async may be described while other threads complete and cancel it`() async {
        await watched {
            struct World: Sendable {
                let promise = Promise<Int>()
                let other = Promise<Int>()
            }
            let context = GlobalContext().serial(named: "changes")
            let worlds = (0..<rounds(debug: 200, release: 3000)).map { _ in World() }
            race(
                worlds,
                [
                    { world in
                        let end = world.promise.async.flatMap(on: context) { _ in world.other.async
                        }.map {
                            $0
                        }
                        for _ in 0..<10 { _ = "\(end) \(world.promise.async) \(world.other.async)" }
                        end.cancel()
                    },
                    { world in
                        world.promise.async.onComplete { _ in }
                        world.promise.succeed(1)
                        for _ in 0..<10 { _ = "\(world.promise.async) \(world.other.async)" }
                        world.other.succeed(1)
                    },
                ])
        }
    }
}
