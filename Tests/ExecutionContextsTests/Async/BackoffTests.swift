import ExecutionContexts
import Testing

/// The delay before the next attempt.
struct BackoffTests {
    /// The delays after attempts that failed with an error that does not matter.
    private func delays(_ backoff: Backoff, _ attempts: ClosedRange<Int>) -> [Duration?] {
        attempts.map { backoff.delay($0, Oops()) }
    }

    private func delay(_ backoff: Backoff, _ attempt: Int) -> Duration {
        backoff.delay(attempt, Oops()) ?? .seconds(-1)
    }

    @Test func `A back-off of none never delays, and a constant back-off always delays as long`() {
        for attempt in [1, 2, 1000, .max] {
            #expect(delay(.none, attempt) == .zero)
            #expect(delay(.constant(.seconds(3)), attempt) == .seconds(3))
            #expect(delay(Backoff { .seconds($0 % 10) }, attempt) == .seconds(attempt % 10))
        }
    }

    @Test func `An exponential back-off multiplies its delay each time, up to its limit`() {
        let backoff = Backoff.exponential(from: .milliseconds(100), factor: 2, limit: .seconds(1))
        let delays = delays(backoff, 1...6)
        #expect(delays == [100, 200, 400, 800, 1000, 1000].map { .milliseconds($0) })
        #expect(delay(.exponential(from: .seconds(1)), 100) == .seconds(60))
        #expect(delay(.exponential(from: .seconds(5), limit: .seconds(2)), 1) == .seconds(2))
    }

    @Test func `An exponential back-off from one nanosecond grows to its limit`() {
        let backoff = Backoff.exponential(from: .nanoseconds(1), factor: 1.5)
        #expect(delay(backoff, 2) <= .nanoseconds(2))
        #expect(delay(backoff, 50) > .milliseconds(300))
        #expect(delay(backoff, 1000) == .seconds(60))
    }

    @Test func `A factor below one shortens the delays, and a factor of one keeps them`() {
        let backoff = Backoff.exponential(from: .seconds(8), factor: 0.5)
        #expect(delays(backoff, 1...4) == [8, 4, 2, 1].map { .seconds($0) })
        #expect(delay(.exponential(from: .seconds(8), factor: 1), .max) == .seconds(8))
    }

    @Test(arguments: [
        Duration.zero, .nanoseconds(1), .seconds(1), .seconds(Int64.max), .seconds(-1),
    ])
    func `Huge attempts, factors and limits do not overflow`(_ first: Duration) {
        for factor in [1, 1.000_000_1, 2, 1e300, .infinity] {
            for attempt in [1, 2, 1_000_000_000, .max] {
                for limit in [Duration.zero, .seconds(60), .seconds(Int64.max)] {
                    let backoff = Backoff.exponential(from: first, factor: factor, limit: limit)
                    #expect(delay(backoff, attempt) <= limit)
                    #expect(delay(backoff.jittered(by: 1), attempt) <= .seconds(2 * 9_223_372_037))
                }
            }
        }
    }

    @Test(arguments: [0, 0.2, 1])
    func `Jitter stays within its part of the delay and uses all of that part`(_ part: Double) {
        let backoff = Backoff.constant(.seconds(100)).jittered(by: part)
        let seconds = (0..<2000).map { _ in delay(backoff, 1) / .seconds(1) }
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

    // MARK: - Errors

    @Test func `A back-off sees the error, and gives up where it returns nil`() {
        let usual = Backoff.exponential(from: .seconds(1))
        let backoff = Backoff { attempt, error in
            switch (error as? Oops)?.number {
            case 429: .seconds(30)
            case 404: nil
            default: usual.delay(attempt, error)
            }
        }
        #expect(backoff.delay(1, Oops(number: 429)) == .seconds(30))
        #expect(backoff.delay(3, Oops()) == .seconds(4))
        #expect(backoff.delay(3, Oops(number: 404)) == nil)
        #expect(backoff.jittered(by: 0.5).delay(3, Oops(number: 404)) == nil)
        let jittered = backoff.jittered(by: 0.1, seed: 1).delay(1, Oops(number: 429)) ?? .zero
        #expect(jittered >= .seconds(27) && jittered <= .seconds(33))
    }

    // MARK: - Seeds

    @Test func `Jitter with a seed gives each attempt the same delay each time`() {
        let backoff = Backoff.constant(.seconds(100))
        for seed: UInt64 in [0, 1, 7, .max] {
            let delays = delays(backoff.jittered(by: 1, seed: seed), 1...50)
            // In any order, and by another copy.
            let again = delays.indices.reversed().map {
                delay(backoff.jittered(by: 1, seed: seed), $0 + 1)
            }
            #expect(delays == again.reversed())
            #expect(Set(delays).count == 50, "attempts have different delays")
        }
    }

    @Test func `Jitter of neighbouring seeds is unrelated, and uses all of its part`() {
        let backoff = Backoff.constant(.seconds(100))
        let delays = (0..<2000).map { seed in
            delay(backoff.jittered(by: 0.2, seed: seed), 1) / .seconds(1)
        }
        #expect(delays.allSatisfy { $0 >= 80 && $0 <= 120 })
        #expect((delays.max() ?? 0) - (delays.min() ?? 0) >= 38)
        let rising = zip(delays, delays.dropFirst()).count { $0 < $1 }
        #expect((800...1200).contains(rising))
        #expect(Set(delays).count == 2000)
    }

    @Test func `Jitter without a seed differs from call to call`() {
        let backoff = Backoff.constant(.seconds(100)).jittered(by: 1)
        #expect(Set((0..<20).map { _ in delay(backoff, 1) }).count > 1)
    }
}
