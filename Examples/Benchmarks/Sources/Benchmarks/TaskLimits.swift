import ExecutionContexts
import ExecutionContextsWork
import Foundation
import Measuring

/// Semaphores of tasks and channels beside their plain Swift equivalents: an actor with
/// continuations, and `AsyncStream`, which has no limit and never suspends a sender.
enum TaskLimitBenchmarks {
    static func run(_ bench: Bench) {
        lock(bench)
        contended(bench)
        for capacity in [0, 1, 64] { elements(bench, capacity) }
        pairs(bench)
        RunBenchmarks.run(bench)
    }

    private static func lock(_ bench: Bench) {
        let count = bench.count(200_000)
        let (lock, gate) = (AsyncLock(), ActorGate())
        bench.compareMeasured(
            "a free lock of tasks; an actor's permit", operations: count, bar: ">= 1",
            ours: {
                inTask { for _ in 0..<count { try? await lock.withLock {} } }
            },
            theirs: {
                inTask {
                    for _ in 0..<count {
                        await gate.enter()
                        await gate.leave()
                    }
                }
            })
    }

    /// Eight tasks, which give up their thread inside, so that the others wait.
    private static func contended(_ bench: Bench) {
        let (count, tasks) = (bench.count(20_000), 8)
        let (lock, gate) = (AsyncLock(), ActorGate())
        bench.compareMeasured(
            "a lock that 8 tasks want; an actor's permit", operations: count * tasks,
            ours: {
                inTask {
                    await together(tasks) {
                        for _ in 0..<count { try? await lock.withLock { await Task.yield() } }
                    }
                }
            },
            theirs: {
                inTask {
                    await together(tasks) {
                        for _ in 0..<count {
                            await gate.enter()
                            await Task.yield()
                            await gate.leave()
                        }
                    }
                }
            })
    }

    private static func together(
        _ tasks: Int, _ body: @escaping @Sendable () async -> Void
    ) async {
        await withDiscardingTaskGroup { group in
            for _ in 0..<tasks { group.addTask { await body() } }
        }
    }

    private static func elements(_ bench: Bench, _ capacity: Int) {
        let count = bench.count(200_000)
        bench.compareMeasured(
            "an element, room for \(capacity); AsyncStream, no limit", operations: count,
            bar: capacity == 64 ? ">= 2" : "",
            ours: {
                inTask {
                    let channel = Channel<Int>(capacity: capacity)
                    async let sender: Void = {
                        for element in 0..<count { try? await channel.send(element) }
                        channel.close()
                    }()
                    var sum = 0
                    for await element in channel { sum += element }
                    await sender
                    check(sum, count)
                }
            },
            theirs: {
                inTask {
                    let (stream, feed) = AsyncStream.makeStream(of: Int.self)
                    async let sender: Void = {
                        for element in 0..<count { feed.yield(element) }
                        feed.finish()
                    }()
                    var sum = 0
                    for await element in stream { sum += element }
                    await sender
                    check(sum, count)
                }
            })
    }

    /// Four senders and four receivers; an `AsyncStream` has one receiver.
    private static func pairs(_ bench: Bench) {
        let (count, tasks) = (bench.count(50_000), 4)
        bench.compareMeasured(
            "an element, 4 senders, 4 receivers; one receiver", operations: count * tasks,
            bar: ">= 2",
            ours: {
                inTask {
                    let channel = Channel<Int>(capacity: 64)
                    async let senders: Void = {
                        await together(tasks) {
                            for element in 0..<count { try? await channel.send(element) }
                        }
                        channel.close()
                    }()
                    await together(tasks) { for await _ in channel {} }
                    await senders
                }
            },
            theirs: {
                inTask {
                    let (stream, feed) = AsyncStream.makeStream(of: Int.self)
                    async let senders: Void = {
                        await together(tasks) { for element in 0..<count { feed.yield(element) } }
                        feed.finish()
                    }()
                    for await _ in stream {}
                    await senders
                }
            })
    }

    private static func check(_ sum: Int, _ count: Int) {
        precondition(sum == count * (count - 1) / 2, "An element was lost or doubled.")
    }
}

/// One permit as an actor, with continuations for the tasks that wait; no cancellation.
private actor ActorGate {
    private var isTaken = false
    private var waiters: [CheckedContinuation<Void, Never>] = []

    func enter() async {
        if !isTaken {
            isTaken = true
            return
        }
        await withCheckedContinuation { waiters.append($0) }
    }

    func leave() {
        if waiters.isEmpty { isTaken = false } else { waiters.removeFirst().resume() }
    }
}
