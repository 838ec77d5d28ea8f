import Dispatch
import ExecutionContexts
import ExecutionContextsTesting
import TestSupport
import Testing

/// One `Async` for each element of a sequence, a limited number of them at a time.
@Suite(.patient)
struct AsyncTraverseTests {
    /// Makes the promises that bodies return, and records them.
    private final class Workshop: Sendable {
        private struct State {
            var promises: [Int: Promise<Int>] = [:]
            var order: [Int] = []
            var most = 0
        }

        private let state = Box(State())

        /// Starts the source of an element, which the test ends.
        func start(_ number: Int) -> Async<Int> {
            let promise = Promise<Int>()
            state.withValue { state in
                state.promises[number] = promise
                state.order.append(number)
                state.most = max(state.most, state.promises.count)
            }
            return promise.async
        }

        func end(_ number: Int, _ end: (Promise<Int>) -> Void) {
            if let promise = state.withValue({ $0.promises.removeValue(forKey: number) }) {
                end(promise)
            }
        }

        var underWay: [Int] { state.value.promises.keys.sorted() }
        /// The elements, in the order in which their sources were started.
        var order: [Int] { state.value.order }
        /// The largest number of pending sources.
        var most: Int { state.value.most }
        func isCancelled(_ number: Int) -> Bool {
            state.value.promises[number]?.async.error is CancellationError
        }
    }

    @Test(arguments: [1, 2, 3, 8, 100], [0, 1, 2, 3, 50])
    func
        `A traversal keeps as many sources pending as its limit allows, and its values are in order`(
            _ limit: Int, _ count: Int
        )
    {
        let workshop = Workshop()
        let values = Async.traverse(0..<count, atMost: limit) { workshop.start($0) }
        var rng = SeededRNG(seed: UInt64(limit * 1000 + count))
        var left = count
        while left > 0 {
            #expect(!values.isCompleted)
            let underWay = workshop.underWay
            #expect(underWay.count == min(limit, left))
            let number = underWay[rng.next(below: underWay.count)]
            workshop.end(number) { $0.succeed(number * number) }
            left -= 1
        }
        #expect(values.value == (0..<count).map { $0 * $0 })
        #expect(workshop.order == Array(0..<count))
        #expect(workshop.most == min(limit, count))
    }

    @Test(arguments: [1, 3, 200])
    func `A traversal starts its sources on its context, one at a time`(_ limit: Int) {
        let context = ManualContext()
        let workshop = Workshop()
        let strays = Box(0)
        let values = Async.traverse(0..<100, atMost: limit, on: context) { [context] number in
            if context.isCurrent != true { strays.withValue { $0 += 1 } }
            return workshop.start(number)
        }
        #expect(workshop.order.isEmpty)
        while !values.isCompleted {
            context.runReady()
            #expect(workshop.underWay.count <= limit)
            for number in workshop.underWay { workshop.end(number) { $0.succeed(number) } }
        }
        #expect(values.value == Array(0..<100))
        #expect(strays.value == 0)
    }

    @Test func `A traversal of no elements returns an empty array and never calls its body`() {
        let values = Async<Int>.traverse([Int](), atMost: 1) { _ in
            Issue.record("called")
            return Async(.success(1))
        }
        #expect(values.value == [])
    }

    @Test(arguments: [0, 1, 5])
    func `The first error ends a traversal, which leaves its pending sources and starts no more`(
        _ failing: Int
    ) {
        let workshop = Workshop()
        let kept = Promise<Int>()
        kept.async.onComplete { _ in }
        let values = Async.traverse(0..<100, atMost: 7) {
            $0 == 6 ? kept.async : workshop.start($0)
        }
        workshop.end(failing) { $0.fail(Oops(number: failing)) }
        #expect(values.error as? Oops == Oops(number: failing))
        #expect(workshop.order == Array(0..<6))
        for number in 0..<6 where number != failing { #expect(workshop.isCancelled(number)) }
        #expect(!kept.async.isCompleted)
        for number in workshop.underWay { workshop.end(number) { $0.succeed(1) } }
        #expect(workshop.order == Array(0..<6))
    }

    @Test func `A body that throws ends the traversal`() {
        let workshop = Workshop()
        let values = Async<Int>.traverse(0..<100, atMost: 4) { number in
            if number == 2 { throw Oops() }
            return workshop.start(number)
        }
        #expect(values.error is Oops)
        #expect(workshop.order == [0, 1])
        #expect(workshop.isCancelled(0) && workshop.isCancelled(1))
    }

    @Test func `Law 26: cancelling a traversal cancels its pending sources and starts no more`() {
        let workshop = Workshop()
        let values = Async.traverse(0..<100, atMost: 3) { workshop.start($0) }
        workshop.end(1) { $0.succeed(1) }
        #expect(values.cancel())
        #expect(workshop.underWay == [0, 2, 3])
        for number in workshop.underWay { #expect(workshop.isCancelled(number)) }
        #expect(values.error is CancellationError)
    }

    @Test
    func
        `Law 26: cancelling inside the body cancels the future that the body returns, and frees all`()
    {
        let sentinels = Sentinels()
        let returned = Promise<Int>()
        let context = ManualContext()
        do {
            let sentinel = sentinels.make()
            let values = Box<Async<[Int]>?>(nil)
            values.value = Async.traverse(0..<3, atMost: 2, on: context) { _ in
                _ = sentinel
                #expect(values.value?.cancel() == true)
                values.value = nil
                return returned.async
            }
            context.runReady()
        }
        #expect(returned.async.error is CancellationError)
        #expect(sentinels.living == 0)
    }

    @Test(arguments: [0, -1])
    func `A limit below one traps`(_ limit: Int) async throws {
        let result =
            limit == 0
            ? await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
                _ = Async.traverse(0..<3, atMost: 0) { Async(.success($0)) }
            }
            : await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
                _ = Async.traverse(0..<3, atMost: -1) { Async(.success($0)) }
            }
        try expectTrap(result, "traversal allows \(limit) at a time", "at least 1")
    }

    // MARK: - Many

    @Test(arguments: [1, 1000, 1_000_000])
    func
        `Law 25: a hundred thousand bodies that end at once neither overflow the stack nor overlap`(
            _ limit: Int
        ) async
    {
        await offThePool {
            let count = rounds(debug: 25_000, release: 100_000)
            let isInside = Box(false)
            let overlaps = Box(0)
            let values = Async.traverse(0..<count, atMost: limit) { number in
                if isInside.withValue({ isInside in (isInside, isInside = true).0 }) {
                    overlaps.withValue { $0 += 1 }
                }
                defer { isInside.value = false }
                return Async(.success(number))
            }
            #expect(values.value == Array(0..<count))
            #expect(overlaps.value == 0)
        }
    }

    @Test func `A traversal of an endless sequence ends at its first error`() {
        let values = Async<Int>.traverse(Naturals(), atMost: 10) { number in
            if number == 1000 { throw Oops() }
            return Async(.success(number))
        }
        #expect(values.error is Oops)
    }

    /// The natural numbers.
    private struct Naturals: Sequence, Sendable {
        func makeIterator() -> some IteratorProtocol<Int> { (0...).makeIterator() }
    }

    @Test(arguments: [1, 4])
    func `Law 25: a traversal on a concurrent context keeps its limit and its order`(_ limit: Int)
        async throws
    {
        let counts = Box((now: 0, most: 0))
        let values = try await Async.traverse(0..<2000, atMost: limit, on: .global) { number in
            counts.withValue { counts in
                counts.now += 1
                counts.most = max(counts.most, counts.now)
            }
            return GlobalContext().submit {
                counts.withValue { $0.now -= 1 }
                return number
            }
        }.get()
        #expect(values == Array(0..<2000))
        #expect(counts.value.most <= limit)
        #expect(counts.value.now == 0)
    }

    // MARK: - Contexts that drop jobs

    @Test
    func
        `Law 1: a traversal on a context that drops jobs ends with a refusal and leaves its sources`()
    {
        let context = ManualContext()
        let workshop = Workshop()
        let isFaulty = Box(false)
        let fragile = ClosureContext { work in if !isFaulty.value { context.execute(work) } }
        let values = Async.traverse(0..<9, atMost: 2, on: fragile) { workshop.start($0) }
        context.runReady()
        isFaulty.value = true
        workshop.end(0) { $0.succeed(0) }
        #expect((values.error as? Refusal)?.reason == .abandoned)
        #expect(workshop.isCancelled(1))
    }

    @Test func `On a context that runs jobs twice a traversal starts each element once`() {
        let doubling = ClosureContext { work in
            work()
            work()
        }
        let numbers = Box<[Int]>([])
        let values = Async.traverse(0..<5, atMost: 2, on: doubling) { number in
            numbers.withValue { $0.append(number) }
            return Async(.success(number))
        }
        #expect(numbers.value == Array(0..<5))
        #expect(values.value == Array(0..<5))
    }
}
