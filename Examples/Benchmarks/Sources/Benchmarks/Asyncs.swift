import ExecutionContexts
import Measuring

/// `Async` beside its alternatives: a detached task whose value is awaited, and a continuation.
///
/// Callbacks and functions capture nothing, as in all benchmarks. A task awaits the tasks one after
/// another.
enum AsyncBenchmarks {
    static func run(_ bench: Bench) {
        let count = bench.count(200_000)
        let detached = { inTask { for _ in 0..<count { await use(Task.detached { 1 }.value) } } }
        let continuation = {
            inTask {
                for _ in 0..<count {
                    await use(withCheckedContinuation { $0.resume(returning: 1) })
                }
            }
        }
        bench.compareMeasured(
            "create, complete, callback; a task", operations: count, bar: ">= 10",
            ours: { time { whole(count) } }, theirs: detached)
        let medians = bench.compareMeasured(
            "the same; CheckedContinuation", operations: count, bar: ">= 0.5",
            ours: { time { whole(count) } }, theirs: continuation)
        if let medians {
            bench.figure("the same, ns", medians.ours.formatted(0), bar: "<= 75")
        }
        bench.compareMeasured(
            "a link of 100 maps; a task", operations: count, bar: ">= 9.1",
            ours: { time { chains(count / 100) } }, theirs: detached)
        bench.compareMeasured(
            "the same, of a value that is there; a task", operations: count,
            ours: { time { endedChains(count / 100) } }, theirs: detached)
        let context = GlobalContext().serial(named: "callbacks")
        bench.compareMeasured(
            "complete, callback on a serial view; a task", operations: count, bar: ">= 4",
            ours: {
                let promises = waiting(count, for: context)
                return time {
                    for promise in promises { promise.succeed(1) }
                    tally.wait()
                }
            }, theirs: detached)
        bench.compareMeasured(
            "the same, created and released in between", operations: count,
            ours: { time { hops(count, to: context) } }, theirs: detached)
        let value = Async(.success(1))
        bench.compareMeasured(
            "callback of a value that is there; a task", operations: count,
            ours: { time { for _ in 0..<count { value.onSuccess { use($0) } } } }, theirs: detached)
        bytes(bench)
    }

    private static func whole(_ count: Int) {
        for _ in 0..<count {
            let promise = Promise<Int>()
            promise.async.onSuccess { use($0) }
            promise.succeed(1)
        }
    }

    private static func chains(_ count: Int) {
        for _ in 0..<count {
            let promise = Promise<Int>()
            var end = promise.async
            for _ in 0..<100 { end = end.map { $0 &+ 1 } }
            end.onSuccess { use($0) }
            promise.succeed(1)
        }
    }

    private static func endedChains(_ count: Int) {
        for _ in 0..<count {
            var end = Async(.success(1))
            for _ in 0..<100 { end = end.map { $0 &+ 1 } }
            end.onSuccess { use($0) }
        }
    }

    private static func hops(_ count: Int, to context: some SerialContext) {
        tally.expect(count)
        for _ in 0..<count {
            let promise = Promise<Int>()
            promise.async.onSuccess(on: context) { _ in tally.hit() }
            promise.succeed(1)
        }
        tally.wait()
    }

    /// Returns promises whose callbacks run on `context`.
    private static func waiting(_ count: Int, for context: some SerialContext) -> [Promise<Int>] {
        tally.expect(count)
        return (0..<count).map { _ in
            let promise = Promise<Int>()
            promise.async.onSuccess(on: context) { _ in tally.hit() }
            return promise
        }
    }

    private static func bytes(_ bench: Bench) {
        let count = 20_000
        var promises: [Promise<Int>] = []
        promises.reserveCapacity(count)
        let start = allocatedBytes()
        for _ in 0..<count {
            let promise = Promise<Int>()
            promise.async.onSuccess { use($0) }
            promises.append(promise)
        }
        let withCallbacks = allocatedBytes()
        for promise in promises { _ = promise.async.map { $0 &+ 1 } }
        let withLinks = allocatedBytes()
        let tasks = waitingTasks(count)
        let withTasks = allocatedBytes()
        bench.figure(
            "bytes, with a callback; a task that waits",
            "\((withCallbacks - start) / count)".leftPadded(10)
                + "\((withTasks - withLinks) / count)".leftPadded(11))
        bench.figure("bytes a link", "\((withLinks - withCallbacks) / count)".leftPadded(10))
        for promise in promises { promise.succeed(1) }
        for task in tasks { task.cancel() }
    }

    /// Returns tasks that sleep, or are about to sleep, until they are cancelled.
    private static func waitingTasks(_ count: Int) -> [Task<Void, Never>] {
        sharedTally.expect(count)
        let tasks = (0..<count).map { _ in
            Task.detached {
                sharedTally.hit()
                try? await Task.sleep(for: .seconds(3_600))
            }
        }
        sharedTally.wait()
        return tasks
    }
}

/// Keeps the optimizer from removing the computation of a value.
@inline(never)
private func use(_ value: Int) {}
