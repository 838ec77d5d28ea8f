import ExecutionContexts
import ExecutionContextsTesting
import TestSupport
import Testing

/// Delays and time limits pass in the time of their context (law 7).
@Suite(.patient)
struct AsyncTimeTests {
    private let context = ManualContext()

    /// The moment at which it ends, in the context's time.
    private func moment(of async: Async<Int>) -> Box<ContextInstant?> {
        let moment = Box<ContextInstant?>(nil)
        async.onComplete { [context] _ in moment.value = context.now }
        return moment
    }

    private func at(_ milliseconds: Int64) -> ContextInstant {
        ContextInstant(nanoseconds: milliseconds * 1_000_000)
    }

    // MARK: - Delay

    @Test func `Law 7: a delay begins when the source has ended, and ends on its context`() {
        let promise = Promise<Int>()
        let delayed = promise.async.delay(.milliseconds(500), on: context)
        let moment = moment(of: delayed)
        let isOnContext = Box<Bool?>(nil)
        delayed.onComplete { [context] _ in isOnContext.value = context.isCurrent }
        context.advance(by: .seconds(10))
        #expect(!delayed.isCompleted)
        promise.succeed(1)
        context.advance(to: at(10_499))
        #expect(!delayed.isCompleted)
        context.advance(to: at(10_500))
        #expect(delayed.value == 1)
        #expect(moment.value == at(10_500))
        #expect(isOnContext.value == true)
        #expect(context.delayedCount == 0)
    }

    @Test func `Law 7: a delay applies to errors, too`() {
        let delayed = Async<Int>(error: Oops()).delay(.milliseconds(5), on: context)
        context.advance(to: at(4))
        #expect(!delayed.isCompleted)
        context.advance(to: at(5))
        #expect(delayed.error is Oops)
    }

    @Test(arguments: [Duration.zero, .seconds(-1), .nanoseconds(Int64.min)])
    func `Law 7: a zero or negative delay means as soon as possible, on the context`(
        _ delay: Duration
    ) {
        let delayed = Async(.success(1)).delay(delay, on: context)
        #expect(!delayed.isCompleted)
        context.advance(by: .zero)
        #expect(delayed.value == 1)
        #expect(context.now == at(0))
    }

    @Test func `Law 7: a delay may be a fraction of a second, negative or huge`() {
        let half = moment(of: Async(.success(1)).delay(.seconds(0.5), on: context))
        let negative = moment(of: Async(.success(1)).delay(.seconds(-3), on: context))
        let endless = [Duration.seconds(Int64.max), .nanoseconds(Int64.max)].map {
            Async(.success(1)).delay($0, on: context)
        }
        context.advance(to: ContextInstant(nanoseconds: .max - 1))
        #expect(half.value == at(500))
        #expect(negative.value == at(0))
        for async in endless { #expect(!async.isCompleted) }
        #expect(context.delayedCount == 0)
        for async in endless { #expect(async.cancel()) }
    }

    @Test func `Law 7: delays of one deadline end in the order in which they began`() {
        let log = Box<[Int]>([])
        let promises = (0..<100).map { _ in Promise<Int>() }
        for (number, promise) in promises.enumerated() {
            promise.async.delay(.seconds(1), on: context).onComplete { _ in
                log.withValue { $0.append(number) }
            }
        }
        for promise in promises.reversed() { promise.succeed(1) }
        context.advance(by: .seconds(1))
        #expect(log.value == (0..<100).reversed())
    }

    @Test func `Law 7: cancelling a delay frees its captures at once and removes its timer`() {
        let sentinels = Sentinels()
        let promise = Promise<Sentinel>()
        let before = promise.async.delay(.seconds(1), on: context)
        before.cancel()
        #expect(promise.async.error is CancellationError)
        let during = Async(.success(sentinels.make())).delay(.seconds(1), on: context)
        #expect(context.delayedCount == 1)
        #expect(sentinels.living == 1)
        #expect(during.cancel())
        #expect(context.delayedCount == 0)
        #expect(sentinels.living == 0)
    }

    @Test func `Law 10: a delay without a handle ends all the same, and an infinite one is freed`()
    {
        let sentinels = Sentinels()
        let calls = Box(0)
        do {
            Async(.success(sentinels.make())).delay(.seconds(1), on: context)
                .onComplete { _ in calls.withValue { $0 += 1 } }
            let captured = sentinels.make()
            Async(.success(sentinels.make())).delay(.seconds(Int64.max), on: context).onComplete {
                _ in
                _ = captured
            }
        }
        #expect(sentinels.living == 1)
        context.advance(by: .seconds(1))
        #expect(calls.value == 1)
        #expect(sentinels.living == 0)
    }

    // MARK: - Timeout

    @Test func `Law 7: a source that ends in time decides the outcome, and the timer is removed`() {
        let promises = [Promise<Int>(), Promise<Int>()]
        let timed = promises.map { $0.async.timeout(after: .seconds(1), on: context) }
        #expect(context.delayedCount == 2)
        context.advance(by: .milliseconds(999))
        promises[0].succeed(1)
        promises[1].fail(Oops())
        #expect(timed[0].value == 1)
        #expect(timed[1].error is Oops)
        #expect(context.delayedCount == 0)
    }

    @Test func `Law 7: at the time limit the timeout ends with an error and leaves its source`() {
        let (wanted, unwanted) = (Promise<Int>(), Promise<Int>())
        wanted.async.onComplete { _ in }
        let timed = [wanted, unwanted].map { $0.async.timeout(after: .seconds(1), on: context) }
        let moment = moment(of: timed[1])
        context.advance(by: .seconds(5))
        for async in timed { #expect(async.error as? AsyncError == .timedOut(after: .seconds(1))) }
        #expect(moment.value == at(1000))
        #expect(!wanted.async.isCompleted)
        #expect(unwanted.async.error is CancellationError)
        #expect(wanted.succeed(1))
        #expect(timed[0].error is AsyncError)
    }

    @Test(arguments: [Duration.zero, .seconds(-1), .nanoseconds(Int64.min)])
    func `Law 7: with a zero or negative time limit only a completed source is in time`(
        _ limit: Duration
    ) {
        let (wanted, unwanted) = (Promise<Int>(), Promise<Int>())
        wanted.async.onComplete { _ in }
        #expect(Async(.success(1)).timeout(after: limit, on: context).value == 1)
        #expect(Async<Int>(error: Oops()).timeout(after: limit, on: context).error is Oops)
        for promise in [wanted, unwanted] {
            #expect(
                promise.async.timeout(after: limit, on: context).error as? AsyncError
                    == .timedOut(after: limit))
        }
        #expect(!wanted.async.isCompleted)
        #expect(unwanted.async.error is CancellationError)
        #expect(context.delayedCount == 0)
    }

    @Test func `Law 7: a time limit beyond the clock is no limit`() {
        let promise = Promise<Int>()
        let timed = [Duration.seconds(Int64.max), .nanoseconds(Int64.max)].map {
            promise.async.timeout(after: $0, on: context)
        }
        #expect(context.delayedCount == 0)
        context.advance(to: ContextInstant(nanoseconds: .max - 1))
        promise.succeed(1)
        for async in timed { #expect(async.value == 1) }
    }

    @Test func `Law 26: cancelling a timeout removes its timer and leaves the source`() {
        let promise = Promise<Int>()
        let timed = promise.async.timeout(after: .seconds(1), on: context)
        #expect(timed.cancel())
        #expect(promise.async.error is CancellationError)
        #expect(context.delayedCount == 0)
    }

    @Test func `Law 7: of nested time limits the shortest counts`() {
        let promise = Promise<Int>()
        let timed = promise.async
            .timeout(after: .seconds(3), on: context)
            .timeout(after: .seconds(2), on: context)
            .delay(.milliseconds(250), on: context)
            .timeout(after: .seconds(9), on: context)
        let moment = moment(of: timed)
        context.advance(by: .seconds(20))
        #expect(timed.error as? AsyncError == .timedOut(after: .seconds(2)))
        #expect(moment.value == at(2250))
        #expect(promise.async.error is CancellationError)
        #expect(context.delayedCount == 0)
    }

    @Test func `Law 7: if a value and a time limit are due together, the one scheduled first wins`()
    {
        let early = Promise<Int>()
        context.schedule(after: .seconds(1)) { early.succeed(1) }
        let timed = early.async.timeout(after: .seconds(1), on: context)
        let late = Promise<Int>()
        late.async.onComplete { _ in }
        let timedBefore = late.async.timeout(after: .seconds(1), on: context)
        context.schedule(after: .seconds(1)) { late.succeed(1) }
        context.advance(by: .seconds(1))
        #expect(timed.value == 1)
        #expect(timedBefore.error is AsyncError)
        #expect(late.async.value == 1)
    }

    // MARK: - Contexts that drop jobs

    @Test func `Law 1: a delay or a timeout on a context that drops its job ends with a refusal`()
        async
    {
        let dropping = DroppingContext(time: context.time)
        let promise = Promise<Int>()
        let delayed = Async(.success(1)).delay(.seconds(1), on: dropping)
        let timed = promise.async.timeout(after: .seconds(1), on: dropping)
        context.advance(by: .seconds(1))
        for async in [delayed, timed] {
            #expect((async.error as? Refusal)?.reason == .abandoned)
            #expect((async.error as? Refusal)?.context == "dropping")
        }
        #expect(promise.async.error is CancellationError)
    }

    /// A context with a time source that drops every job.
    private struct DroppingContext: ExecutionContext {
        let time: any TimeSource
        var name: String { "dropping" }
        func execute(_ work: @escaping Work) {}
    }
}
