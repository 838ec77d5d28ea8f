import ExecutionContexts
import Testing

/// The delay before the next attempt.
struct BackoffTests {
    @Test func `A back-off of none never delays, and a constant back-off always delays as long`() {
        for attempt in [1, 2, 1000, .max] {
            #expect(Backoff.none.delay(attempt) == .zero)
            #expect(Backoff.constant(.seconds(3)).delay(attempt) == .seconds(3))
            #expect(Backoff { .seconds($0 % 10) }.delay(attempt) == .seconds(attempt % 10))
        }
    }

    @Test func `An exponential back-off multiplies its delay each time, up to its limit`() {
        let backoff = Backoff.exponential(from: .milliseconds(100), factor: 2, limit: .seconds(1))
        let delays = (1...6).map(backoff.delay)
        #expect(delays == [100, 200, 400, 800, 1000, 1000].map { .milliseconds($0) })
        #expect(Backoff.exponential(from: .seconds(1)).delay(100) == .seconds(60))
        #expect(Backoff.exponential(from: .seconds(5), limit: .seconds(2)).delay(1) == .seconds(2))
    }

    @Test func `An exponential back-off from one nanosecond grows to its limit`() {
        let backoff = Backoff.exponential(from: .nanoseconds(1), factor: 1.5)
        #expect(backoff.delay(2) <= .nanoseconds(2))
        #expect(backoff.delay(50) > .milliseconds(300))
        #expect(backoff.delay(1000) == .seconds(60))
    }

    @Test func `A factor below one shortens the delays, and a factor of one keeps them`() {
        let backoff = Backoff.exponential(from: .seconds(8), factor: 0.5)
        #expect((1...4).map(backoff.delay) == [8, 4, 2, 1].map { .seconds($0) })
        #expect(Backoff.exponential(from: .seconds(8), factor: 1).delay(.max) == .seconds(8))
    }

    @Test(arguments: [
        Duration.zero, .nanoseconds(1), .seconds(1), .seconds(Int64.max), .seconds(-1),
    ])
    func `Huge attempts, factors and limits do not overflow`(_ first: Duration) {
        for factor in [1, 1.000_000_1, 2, 1e300, .infinity] {
            for attempt in [1, 2, 1_000_000_000, .max] {
                for limit in [Duration.zero, .seconds(60), .seconds(Int64.max)] {
                    let backoff = Backoff.exponential(from: first, factor: factor, limit: limit)
                    #expect(backoff.delay(attempt) <= limit)
                    #expect(backoff.jittered(by: 1).delay(attempt) <= .seconds(2 * 9_223_372_037))
                }
            }
        }
    }

    @Test(arguments: [0, 0.2, 1])
    func `Jitter stays within its part of the delay and uses all of that part`(_ part: Double) {
        let backoff = Backoff.constant(.seconds(100)).jittered(by: part)
        let seconds = (0..<2000).map { _ in backoff.delay(1) / .seconds(1) }
        let range = (100 * (1 - part) - 0.001)...(100 * (1 + part) + 0.001)
        #expect(seconds.allSatisfy { range.contains($0) })
        #expect((seconds.max() ?? 0) - (seconds.min() ?? 0) >= 150 * part)
    }

    @Test func `Jitter by a part below zero, above one or of NaN traps`() async throws {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent])
        {
            _ = Backoff.none.jittered(by: 1.1)
        }
        try expectTrap(result, "1.1", "from 0 to 1")
        await #expect(processExitsWith: .failure) { _ = Backoff.none.jittered(by: .nan) }
        await #expect(processExitsWith: .failure) { _ = Backoff.none.jittered(by: -0.1) }
    }
}
