import Dispatch
import ExecutionContexts
import ExecutionContextsTesting
import TestSupport
import Testing

/// Attempts, one after the other, with delays in the time of the context (law 7).
@Suite(.patient)
struct AsyncRetryTests {
    private let context = ManualContext()

    private func at(_ milliseconds: Int64) -> ContextInstant {
        ContextInstant(nanoseconds: milliseconds * 1_000_000)
    }

    /// One attempt, and when it was made.
    private struct Attempt: Equatable, Sendable {
        let number: Int
        let moment: ContextInstant
        let isOnContext: Bool
    }

    /// Fails `failures` times, then succeeds with the number of the attempt.
    private func retry(
        _ attempts: Int, failing failures: Int, backoff: Backoff = .none,
        log: Box<[Attempt]> = Box([])
    ) -> Async<Int> {
        Async.retry(attempts: attempts, backoff: backoff, on: context) { [context] number in
            let attempt = Attempt(
                number: number, moment: context.now, isOnContext: context.isCurrent == true)
            log.withValue { $0.append(attempt) }
            if number > failures { return Async(.success(number)) }
            // Even attempts throw; odd ones return a failed Async.
            if number % 2 == 0 { throw Oops(number: number) }
            return Async(error: Oops(number: number))
        }
    }

    @Test(arguments: 1...6, 0...6)
    func `A retry ends like its first attempt that succeeds, or like its last attempt`(
        _ attempts: Int, _ failures: Int
    ) {
        let log = Box<[Attempt]>([])
        let retried = retry(attempts, failing: failures, log: log)
        #expect(log.value.isEmpty, "the first attempt is queued, too")
        context.runReady()
        #expect(log.value.map(\.number) == Array(1...min(attempts, failures + 1)))
        #expect(log.value.allSatisfy { $0.isOnContext && $0.moment == at(0) })
        if failures < attempts {
            #expect(retried.value == failures + 1)
        } else {
            #expect(retried.error as? Oops == Oops(number: attempts))
        }
    }

    @Test func `Law 7: attempts start at exactly the moments that the back-off gives`() {
        let log = Box<[Attempt]>([])
        let backoff = Backoff.exponential(from: .milliseconds(100), factor: 3, limit: .seconds(2))
        let retried = retry(6, failing: 5, backoff: backoff, log: log)
        context.advance(by: .seconds(60))
        #expect(retried.value == 6)
        #expect(log.value.map(\.moment) == [0, 100, 400, 1300, 3300, 5300].map(at))
        #expect(log.value.allSatisfy { $0.isOnContext })
        #expect(context.delayedCount == 0)
    }

    @Test func `Law 7: the delay begins when the attempt has failed`() {
        let promises = [Promise<Int>(), Promise<Int>()]
        let retried = Async.retry(attempts: 2, backoff: .constant(.seconds(1)), on: context) {
            promises[$0 - 1].async
        }
        context.advance(by: .seconds(10))
        promises[0].fail(Oops())
        #expect(context.delayedCount == 1)
        context.advance(by: .milliseconds(999))
        #expect(promises[1].async.description.contains("no subscribers"))
        context.advance(by: .milliseconds(1))
        #expect(promises[1].async.description.contains("retry"))
        promises[1].succeed(2)
        #expect(retried.value == 2)
    }

    @Test func `An error that the condition rejects ends the retry`() {
        let log = Box<[Int]>([])
        let retried = Async<Int>.retry(
            attempts: 9, on: context, while: { ($0 as? Oops)?.number != 3 }
        ) { number in
            log.withValue { $0.append(number) }
            throw Oops(number: number)
        }
        context.runReady()
        #expect(log.value == [1, 2, 3])
        #expect(retried.error as? Oops == Oops(number: 3))
    }

    @Test(arguments: [0, -1])
    func `A retry with fewer than one attempt traps`(_ attempts: Int) async throws {
        let result =
            attempts == 0
            ? await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
                _ = Async<Int>.retry(attempts: 0, on: .global) { _ in throw Oops() }
            }
            : await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
                _ = Async<Int>.retry(attempts: -1, on: .global) { _ in throw Oops() }
            }
        try expectTrap(result, "\(attempts) attempts", "at least 1")
    }

    // MARK: - Cancelling

    @Test func `Law 26: a retry that is cancelled before its first attempt makes no attempt`() {
        let log = Box<[Attempt]>([])
        let retried = retry(3, failing: 3, log: log)
        #expect(retried.cancel())
        context.advance(by: .seconds(1))
        #expect(log.value.isEmpty)
        #expect(retried.error is CancellationError)
    }

    @Test func `Law 26: cancelling a retry cancels the running attempt and makes no other`() {
        let promise = Promise<Int>()
        let numbers = Box<[Int]>([])
        let retried = Async.retry(attempts: 3, on: context) { number in
            numbers.withValue { $0.append(number) }
            return promise.async
        }
        context.runReady()
        #expect(retried.cancel())
        #expect(promise.async.error is CancellationError)
        context.advance(by: .seconds(1))
        #expect(numbers.value == [1])
    }

    @Test func `Law 26: cancelling inside an attempt cancels the future that the attempt returns`()
    {
        for attempt in 1...3 {
            let returned = Promise<Int>()
            let retried = Box<Async<Int>?>(nil)
            retried.value = Async.retry(attempts: 5, on: context) { number in
                if number < attempt { throw Oops() }
                #expect(retried.value?.cancel() == true)
                return returned.async
            }
            context.runReady()
            #expect(returned.async.error is CancellationError)
            retried.value = nil
        }
    }

    @Test
    func `Law 26: cancelling while an earlier attempt still notifies cancels the running one`()
        async
    {
        await watched {
            let (first, last) = (Promise<Int>(), Promise<Int>())
            let (isHeld, mayContinue, hasContinued) = (
                DispatchSemaphore(value: 0), DispatchSemaphore(value: 0),
                DispatchSemaphore(value: 0)
            )
            let jobs = Box(0)
            // Inline. It blocks the thread after it has started the third attempt, which happens
            // inside the completion of the second one.
            let context = ClosureContext { work in
                let job = jobs.withValue { jobs in
                    jobs += 1
                    return jobs
                }
                work()
                if job != 3 { return }
                isHeld.signal()
                mayContinue.wait()
            }
            let retried = Async.retry(attempts: 5, on: context) { number in
                number == 1 ? first.async : number == 2 ? Async(error: Oops()) : last.async
            }
            retried.onComplete { _ in
                // It has ended, and has not left its source yet.
                mayContinue.signal()
                hasContinued.wait()
            }
            onThreads([
                {
                    first.fail(Oops())
                    hasContinued.signal()
                },
                {
                    isHeld.wait()
                    #expect(retried.cancel())
                },
            ])
            #expect(last.async.error is CancellationError)
            #expect(last.async.description.hasPrefix("Async(failed"))
        }
    }

    @Test func `Law 26: cancelling a retry withdraws its delay and frees its captures at once`() {
        let sentinels = Sentinels()
        let retried: Async<Int>
        do {
            let sentinel = sentinels.make()
            retried = Async.retry(attempts: 3, backoff: .constant(.seconds(1)), on: context) { _ in
                throw sentinel
            }
        }
        context.runReady()
        #expect(context.delayedCount == 1)
        #expect(sentinels.living == 1)
        #expect(retried.cancel())
        #expect(context.delayedCount == 0)
        #expect(sentinels.living == 0)
    }

    // MARK: - Length

    @Test func `Law 25: thousands of attempts need a small stack only`() async {
        await onSmallStack {
            let few = AsyncDepthTests.fewThrows
            let thrown = Async<Int>.retry(attempts: few, on: .immediate) { throw Oops(number: $0) }
            #expect(thrown.error as? Oops == Oops(number: few))
            let many = AsyncDepthTests.many
            let returned = Async<Int>.retry(attempts: many, on: .immediate) {
                Async(error: Oops(number: $0))
            }
            #expect(returned.error as? Oops == Oops(number: many))
        }
    }

    // MARK: - Contexts that drop jobs

    @Test func `Law 1: a retry on a context that drops jobs ends with a refusal`() {
        let retried = Async.retry(attempts: 3, on: ClosureContext { _ in }) { _ in
            Async(.success(1))
        }
        #expect((retried.error as? Refusal)?.reason == .abandoned)
    }

    @Test func `Law 1: a retry on a full context ends with the refusal`() {
        let view = context.bounded(to: 1, overflow: .refuse)
        view.execute {}
        let retried = Async.retry(attempts: 3, on: view) { _ in Async(.success(1)) }
        #expect((retried.error as? Refusal)?.reason == .full(capacity: 1))
    }

    @Test func `On a context that runs jobs twice a retry makes each attempt once`() {
        let doubling = ClosureContext { work in
            work()
            work()
        }
        let numbers = Box<[Int]>([])
        let retried = Async<Int>.retry(attempts: 3, on: doubling) { number in
            numbers.withValue { $0.append(number) }
            throw Oops()
        }
        #expect(numbers.value == [1, 2, 3])
        #expect(retried.error is Oops)
    }

    /// A time source whose `add` fires a delay that is due already.
    private final class Hasty: TimeSource {
        let pending = Box<[DelayedWork]>([])
        var now: ContextInstant { ContextInstant(nanoseconds: 1_000) }

        func add(_ delay: DelayedWork, tolerance: Duration) {
            if delay.deadline.nanoseconds < 10_000 { return delay.fire() }
            pending.withValue { $0.append(delay) }
        }

        func remove(_ delay: DelayedWork) { pending.withValue { $0.removeAll { $0 === delay } } }
    }

    private struct HastyContext: ExecutionContext {
        let hasty = Hasty()
        func execute(_ work: @escaping Work) { work() }
        var time: any TimeSource { hasty }
    }

    @Test
    func `Laws 7, 26: cancelling reaches the second delay, though the first ends while it is set`()
    {
        let context = HastyContext()
        let backoff = Backoff { $0 == 1 ? .nanoseconds(1) : .seconds(3600) }
        let retried = Async<Int>.retry(attempts: 3, backoff: backoff, on: context) { _ in
            Async(error: Oops())
        }
        #expect(context.hasty.pending.value.count == 1)
        retried.cancel()
        #expect(context.hasty.pending.value.isEmpty)
    }
}
