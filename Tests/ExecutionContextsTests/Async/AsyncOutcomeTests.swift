import ExecutionContexts
import ExecutionContextsTesting
import TestSupport
import Testing

/// All outcomes, the winner of several futures, and callbacks in order across contexts.
@Suite(.patient)
struct AsyncOutcomeTests {
    private func promises(_ count: Int) -> [Promise<Int>] { (0..<count).map { _ in Promise() } }

    private func text(_ outcome: Result<Int, any Error>) -> String {
        switch outcome {
        case .success(let value): "\(value)"
        case .failure(let error): error is Oops ? "oops" : "\(error)"
        }
    }

    // MARK: - All settled

    @Test(arguments: [0, 1, 2, 10, 1000])
    func `All settled has each outcome in the order of the arguments, whatever the order of ends`(
        _ count: Int
    ) {
        let promises = promises(count)
        let all = Async.allSettled(promises.map(\.async))
        var rng = SeededRNG(seed: UInt64(count))
        var left = Array(0..<count)
        while !left.isEmpty {
            #expect(!all.isCompleted)
            let index = left.remove(at: rng.next(below: left.count))
            if index % 3 == 0 {
                promises[index].fail(Oops())
            } else {
                promises[index].succeed(index)
            }
        }
        #expect(
            all.value?.map(text) == (0..<count).map { $0 % 3 == 0 ? "oops" : "\($0)" })
    }

    @Test func `All settled waits for the others after an error, and cancels none of them`() {
        let promises = promises(3)
        let all = Async.allSettled(promises.map(\.async))
        promises[1].fail(Oops())
        promises[0].async.cancel()
        #expect(!all.isCompleted && !promises[2].async.isCompleted)
        promises[2].succeed(2)
        #expect(all.value?.map(text) == ["CancellationError()", "oops", "2"])
    }

    @Test func `All settled has the outcomes of futures that end before it, and of one twice`() {
        let promise = Promise<Int>()
        let all = Async.allSettled([
            Async(error: Oops()), promise.async, Async(.success(3)), promise.async,
        ])
        promise.succeed(1)
        #expect(all.value?.map(text) == ["oops", "1", "3", "1"])
    }

    @Test func `Laws 10, 26: cancelling all settled leaves the sources, and keeps no value`() {
        let sentinels = Sentinels()
        let last = Promise<Sentinel>()
        let all = Async.allSettled([
            Async(.success(sentinels.make())), Async(error: sentinels.make()), last.async,
        ])
        #expect(sentinels.living == 2)
        all.cancel()
        #expect(last.async.error is CancellationError)
        #expect(sentinels.living == 0)
        #expect(all.error is CancellationError)
    }

    // MARK: - Who won

    @Test(arguments: [1, 2, 50], [true, false])
    func `The first completion says who won and how, and the others are left`(
        _ count: Int, _ succeeds: Bool
    ) {
        for winner in 0..<count {
            let promises = promises(count)
            let first = Async.firstCompletion(of: promises.map(\.async))
            #expect(!first.isCompleted)
            if succeeds { promises[winner].succeed(7) } else { promises[winner].fail(Oops()) }
            #expect(first.value?.index == winner)
            #expect(first.value.map { text($0.outcome) } == (succeeds ? "7" : "oops"))
            for loser in 0..<count where loser != winner {
                #expect(promises[loser].async.error is CancellationError)
            }
        }
    }

    @Test func `Of several completed futures, the first argument has won`() {
        let pending = Promise<Int>()
        let first = Async.firstCompletion(of: [
            pending.async, Async(error: Oops()), Async(.success(1)),
        ])
        #expect(first.value?.index == 1)
        #expect(pending.async.error is CancellationError)
    }

    @Test func `Law 24: nobody wins among no futures, and all outcomes of none are none`() {
        #expect(Async<Int>.firstCompletion(of: []).error as? AsyncError == .nothingToWaitFor)
        #expect(Async<Int>.allSettled([]).value?.isEmpty == true)
    }

    @Test func `Law 25: very many futures settle, and one of very many wins`() async {
        await offThePool {
            let promises = promises(AsyncJoiningTests.many)
            let all = Async.allSettled(promises.map(\.async))
            let first = Async.firstCompletion(of: promises.reversed().map(\.async))
            for (index, promise) in promises.enumerated() { promise.succeed(index) }
            #expect(all.value?.count == AsyncJoiningTests.many)
            #expect(first.value?.index == AsyncJoiningTests.many - 1)
        }
    }

    // MARK: - And then

    @Test(arguments: [true, false])
    func `Law 25: callbacks of the result come after the closure, on whichever context`(
        _ succeeds: Bool
    ) {
        let (store, screen) = (ManualContext(), ManualContext())
        let promise = Promise<Int>()
        let log = Box<[String]>([])
        let stored = promise.async.andThen(on: store) { outcome in
            #expect(store.isCurrent == true)
            log.withValue { $0.append("stores \(text(outcome))") }
        }
        stored.onComplete(on: screen) { outcome in
            log.withValue { $0.append("shows \(text(outcome))") }
        }
        stored.onComplete { _ in log.withValue { $0.append("notes") } }
        if succeeds { promise.succeed(7) } else { promise.fail(Oops()) }
        screen.runReady()
        #expect(log.value == [] && !stored.isCompleted)
        store.runReady()
        screen.runReady()
        let outcome = succeeds ? "7" : "oops"
        #expect(log.value == ["stores \(outcome)", "notes", "shows \(outcome)"])
    }

    @Test func `Law 26: and-then that is cancelled first does not call its closure`() {
        let context = ManualContext()
        let promise = Promise<Int>()
        let after = promise.async.andThen(on: context) { _ in Issue.record("It was cancelled.") }
        #expect(after.cancel())
        #expect(promise.async.error is CancellationError)
        let late = Async(.success(1)).andThen(on: context) { _ in
            Issue.record("It was cancelled.")
        }
        #expect(late.cancel())
        context.runReady()
    }

    @Test func `Law 26: and-then calls its closure when its source is cancelled`() {
        let promise = Promise<Int>()
        let outcomes = Box<[String]>([])
        let after = promise.async.andThen { outcome in
            outcomes.withValue { $0.append(text(outcome)) }
        }
        promise.async.cancel()
        #expect(outcomes.value == ["CancellationError()"])
        #expect(after.error is CancellationError)
    }

    @Test func `Law 1: and-then on a context that drops jobs ends with a refusal`() {
        let after = Async(.success(1)).andThen(on: ClosureContext { _ in }) { _ in }
        #expect((after.error as? Refusal)?.reason == .abandoned)
    }

    @Test func `Law 10: and-then frees its closure when it has run`() {
        let sentinels = Sentinels()
        let after = Async(error: Oops() as any Error).andThen {
            [sentinel = sentinels.make()] (_: Result<Int, any Error>) in
            _ = sentinel
        }
        #expect(sentinels.living == 0)
        #expect(after.error is Oops)
    }

    // MARK: - Promises of nothing

    @Test func `Law 24: a promise of nothing succeeds without an argument, once`() {
        let promise = Promise<Void>()
        #expect(promise.succeed())
        #expect(!promise.succeed())
        #expect(promise.async.value != nil)
    }
}
