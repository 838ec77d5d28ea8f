import ExecutionContexts
import ExecutionContextsTesting
import TestSupport
import Testing

/// A retry whose back-off sees the error, and which has a budget for all attempts (law 7).
@Suite(.patient)
struct AsyncRetryBudgetTests {
    private let context = ManualContext()

    private static func at(_ seconds: Int) -> ContextInstant {
        ContextInstant(nanoseconds: Int64(seconds) * 1_000_000_000)
    }

    /// One attempt of a plan: it ends after `length` seconds, with an error of this number.
    private struct Planned: Sendable {
        let length: Int
        /// Nil is a success.
        let error: Int?
    }

    // MARK: - Errors

    @Test func `Law 7: each delay is what the back-off gives for the attempt and its error`() {
        let moments = Box<[ContextInstant]>([])
        let backoff = Backoff { attempt, error in .seconds(attempt * 100 + (error as? Oops)!.number)
        }
        let retried = Async<Int>.retry(attempts: 4, backoff: backoff, on: context) { [context] in
            moments.withValue { $0.append(context.now) }
            if $0 % 2 == 0 { throw Oops(number: $0) }
            return Async(error: Oops(number: $0))
        }
        context.advance(by: .seconds(10_000))
        #expect(moments.value == [0, 101, 303, 606].map(Self.at))
        #expect(retried.error as? Oops == Oops(number: 4))
    }

    @Test func `A back-off that gives up ends the retry with that error, without a delay`() {
        let retried = Async<Int>.retry(
            attempts: 9, backoff: Backoff { $0 == 2 ? nil : .zero - .seconds($1 is Oops ? 1 : 0) },
            on: context
        ) { throw Oops(number: $0) }
        context.runReady()
        #expect(retried.error as? Oops == Oops(number: 2))
        #expect(context.delayedCount == 0)
    }

    // MARK: - Budget

    @Test func `Law 7: an attempt that is pending when the budget passes is left, and cancelled`() {
        let promise = Promise<Int>()
        let retried = Async.retry(attempts: 3, within: .seconds(5), on: context) { number in
            number == 1 ? Async(error: Oops()) : promise.async
        }
        context.advance(by: .milliseconds(4999))
        #expect(!retried.isCompleted)
        context.advance(by: .milliseconds(1))
        #expect(retried.error as? AsyncError == .timedOut(after: .seconds(5)))
        #expect(promise.async.error is CancellationError)
    }

    @Test func `An error whose delay would not end within the budget is the outcome at once`() {
        for (delay, budget, isMade) in [(4, 5, true), (5, 5, false), (9, 5, false), (4, 4, false)] {
            let context = ManualContext()
            let made = Box(0)
            let retried = Async<Int>.retry(
                attempts: 2, backoff: .constant(.seconds(delay)), within: .seconds(budget),
                on: context
            ) { number in
                made.withValue { $0 += 1 }
                throw Oops(number: number)
            }
            context.runReady()
            #expect(retried.isCompleted == !isMade)
            context.advance(by: .seconds(100))
            #expect(retried.error as? Oops == Oops(number: isMade ? 2 : 1))
            #expect(made.value == (isMade ? 2 : 1))
            #expect(context.delayedCount == 0)
        }
    }

    @Test(arguments: [0, -1])
    func `A budget of nothing is spent before the first attempt`(_ seconds: Int) {
        let made = Box(0)
        let retried = Async<Int>.retry(attempts: 3, within: .seconds(seconds), on: .immediate) {
            _ in
            made.withValue { $0 += 1 }
            return Async(.success(1))
        }
        #expect(retried.error as? AsyncError == .timedOut(after: .seconds(seconds)))
        #expect(made.value == 0)
    }

    @Test(arguments: [Duration.seconds(Int64.max), .nanoseconds(Int64.max)])
    func `A budget without end is none`(_ budget: Duration) {
        let retried = Async.retry(
            attempts: 3, backoff: .constant(.seconds(1_000_000)), within: budget, on: context
        ) { number in
            if number < 3 { throw Oops() }
            return Async(.success(number))
        }
        context.advance(by: .seconds(3_000_000))
        #expect(retried.value == 3)
    }

    @Test func `Laws 10, 26: cancelling a retry with a budget withdraws all, and frees it at once`()
    {
        let sentinels = Sentinels()
        let retried: Async<Int>
        do {
            let sentinel = sentinels.make()
            retried = Async.retry(
                attempts: 3, backoff: .constant(.seconds(1)), within: .seconds(9), on: context
            ) { _ in throw sentinel }
        }
        context.runReady()
        #expect(context.delayedCount == 2)
        #expect(retried.cancel())
        #expect(context.delayedCount == 0)
        #expect(sentinels.living == 0)
    }

    @Test func `A closure of the main actor takes a budget, too`() async {
        await MainActor.run {
            let ui = ManualMainContext()
            let retried = Async<Int>.retry(
                attempts: 5, backoff: .constant(.seconds(2)), within: .seconds(3), on: ui
            ) { number in
                MainActor.assertIsolated()
                throw Oops(number: number)
            }
            ui.advance(by: .seconds(10))
            #expect(retried.error as? Oops == Oops(number: 2))
        }
    }

    // MARK: - Random plans

    /// What a retry of a plan ends with, and when: the attempts made, the outcome, the moment.
    private static func model(_ plan: [Planned], _ delays: [Int?], budget: Int?) -> [Int] {
        var now = 0
        for (index, attempt) in plan.enumerated() {
            let end = now + attempt.length
            if let budget, end >= budget, attempt.length > 0 { return [index + 1, -1, budget] }
            guard let error = attempt.error else { return [index + 1, 0, end] }
            guard index + 1 < plan.count, let delay = delays[error],
                budget.map({ end + delay < $0 }) ?? true
            else { return [index + 1, error, end] }
            now = end + delay
        }
        return []
    }

    @Test func `Law 7: random retries end as a model says, and when it says`() {
        for seed in 1...UInt64(isLongRun ? 50_000 : 1_000) {
            var rng = SeededRNG(seed: seed)
            let plan = (0...rng.next(below: 5)).map { _ in
                Planned(
                    length: rng.next(below: 4),
                    error: rng.next(below: 5) == 0 ? nil : rng.next(below: 3) + 1)
            }
            let delays = (0..<4).map { _ in rng.next(below: 5) == 0 ? nil : rng.next(below: 4) }
            let budget = rng.next(below: 3) == 0 ? nil : rng.next(below: 12) + 1
            let context = ManualContext()
            let made = Box(0)
            let ended = Box<[Int]>([])
            Async<Int>.retry(
                attempts: plan.count,
                backoff: Backoff { delays[($1 as? Oops)!.number].map(Duration.seconds) },
                within: budget.map { .seconds($0) }, on: context
            ) { number in
                made.withValue { $0 += 1 }
                let planned = plan[number - 1]
                let outcome: Async<Int> =
                    planned.error.map { Async(error: Oops(number: $0)) } ?? Async(.success(0))
                if planned.length == 0 { return outcome }
                return outcome.delay(.seconds(planned.length), on: context)
            }.onComplete { outcome in
                let result: Int =
                    switch outcome {
                    case .success: 0
                    case .failure(let error as Oops): error.number
                    case .failure: -1
                    }
                let now = Int(context.now.nanoseconds / 1_000_000_000)
                ended.withValue { $0 += [made.value, result, now] }
            }
            context.advance(by: .seconds(1000))
            let expected = Self.model(plan, delays, budget: budget)
            #expect(ended.value == expected, "seed \(seed): \(plan), \(delays), \(budget as Any)")
            #expect(context.delayedCount == 0)
            if ended.value != expected { return }
        }
    }
}
