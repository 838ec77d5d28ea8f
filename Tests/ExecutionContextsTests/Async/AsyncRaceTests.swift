import Dispatch
import ExecutionContexts
import ExecutionContextsTesting
import Foundation
import TestSupport
import Testing

/// Completions, cancellations and time limits that race (laws 24 and 26).
@Suite(.serialized, .patient)
struct AsyncRaceTests {
    @Test(arguments: 0..<3)
    func `Law 24: a combinator whose sources end while it is cancelled ends once`(_ goal: Int)
        async
    {
        await watched {
            struct World: Sendable {
                let promises = (0..<4).map { _ in Promise<Int>() }
                let combined = Box<Async<Int>?>(nil)
                let calls = Box(0)

                init(_ goal: Int) {
                    let asyncs = promises.map(\.async)
                    let calls = calls
                    combined.value =
                        switch goal {
                        case 0: Async.all(asyncs).map { $0.reduce(0, +) }
                        case 1: Async.first(of: asyncs)
                        default: Async.firstSuccess(of: asyncs)
                        }
                    combined.value?.onComplete { _ in calls.withValue { $0 += 1 } }
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
                    { if $0.calls.value == 0 { $0.combined.value?.cancel() } },
                ])
            for world in worlds {
                #expect(world.calls.value == 1)
                // Sources that were still pending have been cancelled.
                for promise in world.promises { #expect(promise.async.isCompleted) }
            }
        }
    }

    @Test
    func
        `Law 24: a traversal on the global context, cancelled at any point, ends once and keeps nothing`()
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
                    return number % 2 == 0
                        ? Async(.success(number)) : GlobalContext().submit { number }
                }
                values.onComplete { outcome in
                    if let values = try? outcome.get() { #expect(values == Array(0..<50)) }
                    ended.signal()
                }
                if round % 5 != 0 {
                    DispatchQueue.global().async { if round % 5 < 4 { values.cancel() } }
                }
            }
            for _ in 0..<count { ended.wait() }
            // Bodies that were running may still hold theirs.
            waitUntil { sentinels.living == 0 }
        }
    }

    @Test func `Law 24: a timed Async ends once, though its value and its limit race`() async {
        await watched {
            let ended = DispatchSemaphore(value: 0)
            let count = rounds(debug: 200, release: 4000)
            let sentinels = Sentinels()
            for round in 0..<count {
                let promise = Promise<Sentinel>()
                promise.async.timeout(after: .microseconds(round % 200), on: .global)
                    .delay(.microseconds(round % 50), on: .global)
                    .onComplete { _ in ended.signal() }
                DispatchQueue.global().async { promise.succeed(sentinels.make()) }
            }
            for _ in 0..<count { ended.wait() }
            waitUntil { sentinels.living == 0 }
        }
    }

    @Test
    func `Law 26: tasks, threads and tokens subscribe and leave concurrently, and every wait ends`()
        async
    {
        await watched {
            let worlds = (0..<rounds(debug: 60, release: 1000)).map { _ in Promise<Int>() }
            let ended = DispatchGroup()
            let visit: @Sendable (Promise<Int>) -> Void = { promise in
                ended.enter()
                let task = Task {
                    _ = try? await promise.async.getOrCancel()
                    ended.leave()
                }
                let token = InvalidationToken()
                promise.async.onComplete(on: .global, while: token) { _ in }
                _ = try? promise.async.wait(timeout: .microseconds(50))
                task.cancel()
                token.invalidate()
                _ = try? promise.async.shielded().timeout(after: .microseconds(50), on: .global)
                    .wait()
            }
            race(worlds, [visit, visit, visit, { if Bool.random() { $0.succeed(1) } }])
            for promise in worlds { promise.async.cancel() }
            ended.wait()
        }
    }
}
