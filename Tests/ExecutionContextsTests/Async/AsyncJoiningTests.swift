import ExecutionContexts
import ExecutionContextsTesting
import TestSupport
import Testing

/// Combinators: all of several futures, or the first of them.
@Suite(.patient)
struct AsyncJoiningTests {
    static let many = rounds(debug: 20_000, release: 100_000)

    private func promises(_ count: Int) -> [Promise<Int>] { (0..<count).map { _ in Promise() } }

    // MARK: - All

    @Test(arguments: [0, 1, 2, 10, 1000])
    func `All has the values in the order of the arguments, whatever the order of completion`(
        _ count: Int
    ) {
        let promises = promises(count)
        let all = Async.all(promises.map(\.async))
        var rng = SeededRNG(seed: UInt64(count))
        var left = Array(0..<count)
        while !left.isEmpty {
            #expect(!all.isCompleted)
            let index = left.remove(at: rng.next(below: left.count))
            promises[index].succeed(index)
        }
        #expect(all.value == Array(0..<count))
    }

    @Test(arguments: 1...20)
    func `All takes completed futures, open futures and one future several times`(_ seed: UInt64) {
        var rng = SeededRNG(seed: seed)
        let promises = promises(8)
        for index in 0..<8 where rng.next(below: 2) == 0 { promises[index].succeed(index) }
        let indices = (0..<20).map { _ in rng.next(below: 8) }
        let all = Async.all(indices.map { promises[$0].async })
        for index in 0..<8 { promises[index].succeed(index) }
        #expect(all.value == indices)
    }

    @Test func `All ends with the first error, and leaves the other futures`() {
        let promises = promises(4)
        promises[3].async.onComplete { _ in }
        let all = Async.all(promises.map(\.async))
        promises[1].succeed(1)
        promises[2].fail(Oops(number: 2))
        #expect(all.error as? Oops == Oops(number: 2))
        #expect(promises[0].async.error is CancellationError)
        #expect(promises[1].async.value == 1)
        // This one has another subscriber.
        #expect(!promises[3].async.isCompleted)
        promises[3].fail(Oops(number: 3))
        #expect(all.error as? Oops == Oops(number: 2))
    }

    @Test func `All leaves its other futures if one has failed already`() {
        let (before, after) = (Promise<Int>(), Promise<Int>())
        let all = Async.all([before.async, Async(error: Oops()), after.async])
        #expect(all.error is Oops)
        #expect(before.async.error is CancellationError)
        #expect(after.async.error is CancellationError)
    }

    @Test func `Law 10: an all that has failed keeps no value`() {
        let sentinels = Sentinels()
        let last = Promise<Sentinel>()
        let all = Async.all([Async(.success(sentinels.make())), last.async])
        #expect(sentinels.living == 1)
        last.fail(Oops())
        #expect(all.error is Oops)
        #expect(sentinels.living == 0)
    }

    @Test func `Law 10: an all that has been cancelled keeps no value`() {
        let sentinels = Sentinels()
        let last = Promise<Sentinel>()
        let all = Async.all([Async(.success(sentinels.make())), last.async])
        all.cancel()
        #expect(sentinels.living == 0)
        #expect(last.async.error is CancellationError)
    }

    // MARK: - First

    @Test(arguments: [1, 2, 50], [true, false])
    func `The first future to end decides, with a value or with an error`(
        _ count: Int, _ succeeds: Bool
    ) {
        for winner in 0..<count {
            let promises = promises(count)
            let first = Async.first(of: promises.map(\.async))
            #expect(!first.isCompleted)
            if succeeds {
                promises[winner].succeed(winner)
            } else {
                promises[winner].fail(Oops(number: winner))
            }
            #expect(first.value == (succeeds ? winner : nil))
            #expect((first.error as? Oops)?.number == (succeeds ? nil : winner))
            for loser in 0..<count where loser != winner {
                #expect(promises[loser].async.error is CancellationError)
            }
        }
    }

    @Test func `Of several completed futures, the first argument is the first`() {
        let pending = Promise<Int>()
        #expect(
            Async.first(of: [pending.async, Async(.success(1)), Async(error: Oops())]).value == 1)
        #expect(pending.async.error is CancellationError)
        #expect(
            Async.firstSuccess(of: [Async(error: Oops()), Async(.success(2)), Async(.success(1))])
                .value == 2)
    }

    @Test(arguments: [1, 2, 50])
    func `The first success ignores errors, and leaves the other futures`(_ count: Int) {
        for winner in 0..<count {
            let promises = promises(count + 1)
            let first = Async.firstSuccess(of: promises.map(\.async))
            for loser in 0..<winner { promises[loser].fail(Oops(number: loser)) }
            #expect(!first.isCompleted)
            promises[winner].succeed(winner)
            #expect(first.value == winner)
            for loser in (winner + 1)...count {
                #expect(promises[loser].async.error is CancellationError)
            }
        }
    }

    @Test func `Without a success, the first success fails with the last error`() {
        let promises = promises(3)
        let first = Async.firstSuccess(of: promises.map(\.async))
        for index in [1, 2, 0] { promises[index].fail(Oops(number: index)) }
        #expect(first.error as? Oops == Oops(number: 0))
    }

    @Test
    func `Law 24: the first of no futures is an error at once, all of no futures an empty array`() {
        #expect(Async<Int>.first(of: []).error as? AsyncError == .nothingToWaitFor)
        #expect(Async<Int>.firstSuccess(of: []).error as? AsyncError == .nothingToWaitFor)
        #expect(Async<Int>.all([]).value == [])
    }

    // MARK: - Zip

    @Test(arguments: [[0, 1, 2], [2, 1, 0], [1, 2, 0]])
    func `Zip has values of several types, whatever the order of completion`(_ order: [Int]) {
        let (number, text, flag) = (Promise<Int>(), Promise<String>(), Promise<Bool>())
        let two = number.async.zip(text.async)
        let three = number.async.zip(text.async, flag.async)
        let five = flag.async.zip(number.async, text.async, Async(.success(Int?.none)), flag.async)
        for index in order {
            #expect(three.outcome == nil && five.outcome == nil)
            switch index {
            case 0: number.succeed(1)
            case 1: text.succeed("two")
            default: flag.succeed(true)
            }
        }
        #expect(two.value.map { $0 == (1, "two") } == true)
        #expect(three.value.map { $0 == (1, "two", true) } == true)
        #expect(five.value.map { $0 == (true, 1, "two", nil, true) } == true)
    }

    @Test func `Zip ends with the first error, and leaves the other futures`() {
        let (number, text, flag) = (Promise<Int>(), Promise<String>(), Promise<Bool>())
        let three = number.async.zip(text.async, flag.async)
        text.fail(Oops())
        #expect(three.error is Oops)
        #expect(number.async.error is CancellationError)
        #expect(flag.async.error is CancellationError)
    }

    @Test func `An Async may be zipped with itself`() {
        let promise = Promise<Int>()
        let both = promise.async.zip(promise.async)
        promise.succeed(1)
        #expect(both.value.map { $0 == (1, 1) } == true)
    }

    // MARK: - Many

    @Test func `Law 25: combinators may be nested very deep`() async {
        await offThePool {
            let promise = Promise<Int>()
            var end = promise.async
            for round in 0..<Self.many {
                end = round % 2 == 0 ? Async.all([end]).map { $0[0] } : Async.first(of: [end])
            }
            promise.succeed(1)
            #expect(end.value == 1)
        }
    }

    @Test func `Law 26: cancelling reaches the head of combinators nested very deep`() async {
        await offThePool {
            let promise = Promise<Int>()
            var end = promise.async
            for round in 0..<Self.many {
                end = round % 2 == 0 ? end.zip(end).map { $0.0 } : Async.firstSuccess(of: [end])
            }
            end.cancel()
            #expect(promise.async.error is CancellationError)
        }
    }

    @Test func `A combinator takes very many futures`() async {
        await offThePool {
            let promises = promises(Self.many)
            let all = Async.all(promises.map(\.async))
            let first = Async.first(of: promises.reversed().map(\.async))
            for (index, promise) in promises.enumerated() { promise.succeed(index) }
            #expect(all.value?.count == Self.many)
            #expect(all.value?.last == Self.many - 1)
            #expect(first.value == 0)
        }
    }
}
