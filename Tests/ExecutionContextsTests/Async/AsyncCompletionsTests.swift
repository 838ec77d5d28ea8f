import ExecutionContexts
import ExecutionContextsTesting
import TestSupport
import Testing

/// An iteration of completions, kept by a test that does not await it.
final class CompletionsBox: @unchecked Sendable {
    // Unchecked: no thread uses the iterator before it is freed.
    private let iterator: Async<Int>.Completions.Iterator

    init(of asyncs: [Async<Int>]) {
        iterator = Async.completions(of: asyncs).makeAsyncIterator()
    }
}

/// The completions of several futures as they come: each once, in order (laws 25 and 26).
@Suite(.patient)
struct AsyncCompletionsTests {
    private func promises(_ count: Int) -> [Promise<Int>] { (0..<count).map { _ in Promise() } }

    private static func text(_ completion: Async<Int>.Completion) -> String {
        switch completion.outcome {
        case .success(let value): "\(completion.index): \(value)"
        case .failure(let error): "\(completion.index): \(error is Oops ? "oops" : "\(error)")"
        }
    }

    /// Starts a task that notes the completions, of at most `limit` futures.
    private func noting(
        _ asyncs: [Async<Int>], atMost limit: Int = .max, in log: Box<[String]>
    ) -> Task<Void, any Error> {
        startedTask {
            if limit == 0 {
                _ = Async.completions(of: asyncs).makeAsyncIterator()
                return
            }
            var left = limit
            for await completion in Async.completions(of: asyncs) {
                log.withValue { $0.append(Self.text(completion)) }
                left -= 1
                if left == 0 { break }
            }
        }
    }

    @Test(.alsoSimulated)
    func `Law 25: completions come in the order in which the futures complete`() async throws {
        let promises = promises(4)
        let log = Box<[String]>([])
        let task = noting(promises.map(\.async), in: log)
        promises[2].succeed(2)
        promises[0].fail(Oops())
        promises[3].async.cancel()
        promises[1].succeed(1)
        try await task.value
        #expect(log.value == ["2: 2", "0: oops", "3: CancellationError()", "1: 1"])
    }

    @Test func `Completions that precede the iteration come first, and one future comes twice`()
        async
    {
        let promise = Promise<Int>()
        let done = Async(.success(5))
        var seen: [String] = []
        promise.succeed(7)
        for await completion in Async.completions(of: [promise.async, done, promise.async]) {
            seen.append(Self.text(completion))
        }
        #expect(seen == ["0: 7", "1: 5", "2: 7"])
        for await _ in Async<Int>.completions(of: []) { Issue.record("There are none.") }
    }

    @Test func `Each iteration has every completion, and an ended one has no more`() async {
        let completions = Async.completions(of: [Async(.success(1)), Async(error: Oops())])
        for _ in 0..<2 {
            var iterator = completions.makeAsyncIterator()
            #expect(await iterator.next().map(Self.text) == "0: 1")
            #expect(await iterator.next().map(Self.text) == "1: oops")
            #expect(await iterator.next() == nil)
            #expect(await iterator.next() == nil)
        }
    }

    @Test func `Law 26: completions that are not iterated are no interest, and begin nothing`() {
        let promise = Promise<Int>()
        let begun = Box(0)
        let lazy = Async.lazy {
            begun.withValue { $0 += 1 }
            return promise.async
        }
        let completions = Async.completions(of: [lazy])
        #expect(begun.value == 0)
        do {
            let iterator = completions.makeAsyncIterator()
            #expect(begun.value == 1)
            withExtendedLifetime(iterator) {}
        }
        #expect(promise.async.error is CancellationError)
    }

    @Test func `Law 26: an iteration that ends early leaves the remaining futures`() async {
        let promises = promises(5)
        promises[4].async.onComplete { _ in }
        promises[1].succeed(1)
        for await completion in Async.completions(of: promises.map(\.async)) {
            #expect(completion.index == 1)
            break
        }
        #expect([0, 2, 3].allSatisfy { promises[$0].async.error is CancellationError })
        #expect(!promises[4].async.isCompleted && promises[1].async.value == 1)
    }

    @Test(.alsoSimulated)
    func `Law 26: cancelling the task ends its iteration, and leaves the remaining futures`()
        async throws
    {
        let promises = promises(3)
        let log = Box<[String]>([])
        let task = noting(promises.map(\.async), in: log)
        promises[1].succeed(1)
        task.cancel()
        try await task.value
        #expect(log.value == ["1: 1"] || log.value == [])
        #expect(promises[0].async.error is CancellationError)
        #expect(promises[2].async.error is CancellationError)
    }

    @Test func `Law 26: in a cancelled task an iteration has nothing`() async throws {
        let promise = Promise<Int>()
        let task = Task {
            while !Task.isCancelled { await Task.yield() }
            var iterator = Async.completions(of: [Async(.success(1)), promise.async])
                .makeAsyncIterator()
            #expect(await iterator.next() == nil)
            #expect(promise.async.error is CancellationError)
            #expect(await iterator.next() == nil)
        }
        task.cancel()
        await task.value
    }

    @Test func `Law 10: an iteration keeps no outcome that it has given, and none when it ends`()
        async
    {
        let sentinels = Sentinels()
        do {
            var iterator = Async.completions(of: [
                Async(.success(sentinels.make())), Async(error: sentinels.make()),
            ]).makeAsyncIterator()
            #expect(sentinels.living == 2)
            _ = await iterator.next()
            #expect(sentinels.living == 1)
        }
        #expect(sentinels.living == 0)
    }

    @Test func `Law 25: very many futures complete one after the other, or are left at once`() async
    {
        let count = AsyncJoiningTests.many
        for isLeft in [false, true] {
            let promises = promises(count)
            var iterator = Async.completions(of: promises.map(\.async)).makeAsyncIterator()
            for (index, promise) in promises.enumerated().reversed() where !isLeft || index > 9 {
                promise.succeed(index)
            }
            for index in (isLeft ? 10..<count : 0..<count).reversed() {
                let next = await iterator.next()
                #expect(next?.index == index)
                if next?.index != index { return }
            }
            if isLeft { continue }
            #expect(await iterator.next() == nil)
        }
    }

    @Test
    func `Law 25: futures that an iteration leaves in its deinit are cancelled on a small stack`()
        async
    {
        await onSmallStack {
            let cancelled = Box(0)
            var next: CompletionsBox?
            for _ in 0..<AsyncDepthTests.many {
                let promise = Promise<Int>()
                promise.onCancel { [kept = next] in
                    withExtendedLifetime((kept, promise)) { cancelled.withValue { $0 += 1 } }
                }
                next = CompletionsBox(of: [promise.async])
            }
            next = nil
            #expect(cancelled.value == AsyncDepthTests.many)
        }
    }

    // MARK: - Random programs

    @Test
    func `Laws 24, 25, 26: random programs have each completion once, in order, until they leave`()
        async throws
    {
        for seed in 1...UInt64(isLongRun ? 20_000 : 400) {
            var rng = SeededRNG(seed: seed)
            let promises = promises(rng.next(below: 7))
            let watched = promises.map { _ in rng.next(below: 3) == 0 }
            for (promise, isWatched) in zip(promises, watched) where isWatched {
                promise.async.onComplete { _ in }
            }
            var order: [String] = []
            var open = Array(promises.indices)
            // Completes a random one; not part of the order if the iteration has left it by then.
            func completeOne() {
                guard !open.isEmpty else { return }
                let index = open.remove(at: rng.next(below: open.count))
                let fails = rng.next(below: 3) == 0
                let did =
                    fails ? promises[index].fail(Oops()) : promises[index].succeed(index * 10)
                if did { order.append("\(index): \(fails ? "oops" : "\(index * 10)")") }
            }
            for _ in 0..<rng.next(below: 3) { completeOne() }
            // Those that precede the iteration come in the order of the arguments.
            order.sort { $0.prefix(1) < $1.prefix(1) }
            let log = Box<[String]>([])
            let limit = rng.next(below: 3) == 0 ? rng.next(below: 4) : .max
            let task = noting(promises.map(\.async), atMost: limit, in: log)
            let isCancelled = rng.next(below: 3) == 0
            for _ in 0..<rng.next(below: 8) { completeOne() }
            if isCancelled { task.cancel() } else { while !open.isEmpty { completeOne() } }
            try await task.value
            // A watched one that was left completes later, and is not in the log.
            let expected = Array(order.prefix(log.value.count))
            #expect(log.value == expected, "seed \(seed)")
            if !isCancelled {
                #expect(log.value.count == min(limit, promises.count), "seed \(seed)")
            }
            for index in open {
                let isRight = watched[index] != (promises[index].async.error is CancellationError)
                #expect(isRight, "seed \(seed): \(index)")
            }
            if log.value != expected { return }
        }
    }
}
