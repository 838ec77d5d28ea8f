import ExecutionContexts
import ExecutionContextsTesting
import ExecutionContextsWork
import TestSupport
import Testing

/// Limiters over contexts that run several jobs at a time, and tokens that are given back.
@Suite(.patient)
struct RateLimiterTokenTests {
    @Test func `Law 7: a token that is given back lets the next job begin at once`() {
        let context = ManualContext()
        let limiter = RateLimiter(on: context, rate: 1, per: .seconds(10))
        let log = Box<[String]>([])
        limiter.submit { token in
            log.withValue { $0.append("known") }
            token.giveBack()
            token.giveBack()
        }
        for name in ["a", "b"] { limiter.submit { log.withValue { $0.append(name) } } }
        context.runReady()
        #expect(log.value == ["known", "a"])
        context.advance(by: .seconds(10))
        #expect(log.value == ["known", "a", "b"])
    }

    @Test func `Law 7: a token that comes back late wakes the job that waits`() {
        let context = ManualContext()
        let limiter = RateLimiter(on: context, rate: 1, per: .seconds(10))
        let log = Box<[String]>([])
        let token = Box<RateLimiterToken?>(nil)
        limiter.submit { token.value = $0 }
        limiter.submit { log.withValue { $0.append("next") } }
        context.advance(by: .seconds(1))
        #expect(log.value == [])
        token.value?.giveBack()
        context.runReady()
        #expect(log.value == ["next"])
        #expect(context.delayedCount == 0)
    }

    @Test func `Law 7: on a context that runs several jobs at a time, none begins early`() {
        let context = ManualContext()
        let target: any ExecutionContext = context
        let limiter = RateLimiter(on: target, rate: 1, per: .seconds(1))
        let log = Box<[ContextInstant]>([])
        for _ in 0..<4 { limiter.submit { log.withValue { $0.append(context.time.now) } } }
        context.advance(by: .seconds(10))
        #expect(log.value.count == 4)
        for (first, second) in zip(log.value, log.value.dropFirst()) {
            #expect(first.duration(to: second) >= .seconds(1))
        }
    }

    @Test func `Law 1: a full context refuses a submitted job, and takes a plain one`() throws {
        let context = ManualContext()
        let full: any ExecutionContext = context.bounded(to: 1, overflow: .refuse)
        let limiter = RateLimiter(on: full, rate: 1_000)
        let ran = Box(0)
        let work = limiter.submit { ran.withValue { $0 += 1 } }
        limiter.execute { ran.withValue { $0 += 10 } }
        context.advance(by: .seconds(1))
        #expect(work.isCompleted)
        #expect(ran.value >= 10)
    }

    @Test func `Law 7: a token that comes back after the limiter has gained it anew adds none`() {
        let context = ManualContext()
        let limiter = RateLimiter(on: context, rate: 1, per: .seconds(1), burst: 3)
        let (token, began) = (Box<RateLimiterToken?>(nil), Box(0))
        limiter.submit { token.value = $0 }
        context.advance(by: .seconds(100))
        for _ in 0..<4 { limiter.submit { began.withValue { $0 += 1 } } }
        context.runReady()
        token.value?.giveBack()
        context.runReady()
        #expect(began.value == 3)
    }

    @Test func `Law 38: a job that its deadline refuses takes no token`() {
        let context = ManualContext()
        let limiter = RateLimiter(on: context, rate: 1, per: .seconds(60))
        let began = Box(false)
        withDeadline(in: .zero, on: context) { _ = limiter.submit {} }
        limiter.submit { began.value = true }
        context.runReady()
        #expect(began.value)
    }

    /// However tokens come back, the jobs that keep theirs are within the rate.
    @Test(arguments: seeds(debug: 60, release: 600))
    func `Law 7: whichever tokens come back, the jobs that keep theirs are within the rate`(
        seed: UInt64
    ) {
        var random = SeededRNG(seed: seed)
        let burst = 1 + random.next(below: 5)
        let context = ManualContext()
        let target: any ExecutionContext = context
        let limiter =
            seed % 2 == 0
            ? RateLimiter(on: context, rate: 1, per: .seconds(10), burst: burst)
            : RateLimiter(on: target, rate: 1, per: .seconds(10), burst: burst)
        let tokens = Box<[RateLimiterToken]>([])
        let begun = Box<[ObjectIdentifier: ContextInstant]>([:])
        for _ in 0..<200 {
            switch random.next(below: 4) {
            case 0, 1:
                limiter.submit { token in
                    begun.withValue { $0[ObjectIdentifier(token)] = context.time.now }
                    tokens.withValue { $0.append(token) }
                }
            case 2:
                let returned = tokens.withValue { tokens -> RateLimiterToken? in
                    tokens.isEmpty ? nil : tokens.remove(at: random.next(below: tokens.count))
                }
                if let returned {
                    begun.withValue { $0[ObjectIdentifier(returned)] = nil }
                    returned.giveBack()
                }
            default: context.advance(by: .seconds(random.next(below: 15)))
            }
            context.runReady()
        }
        let kept = begun.value.values.sorted()
        for first in kept.indices {
            for last in kept.indices.dropFirst(first + burst) {
                let least = Duration.seconds(10 * (last - first + 1 - burst))
                #expect(kept[first].duration(to: kept[last]) >= least)
            }
        }
    }

    @Test func `Law 7: a token that comes back twice in different ways counts once`() {
        let context = ManualContext()
        let limiter = RateLimiter(on: context, rate: 1, burst: 2)
        let (tokens, began) = (Box<[RateLimiterToken]>([]), Box(0))
        for _ in 0..<2 { limiter.submit { token in tokens.withValue { $0.append(token) } } }
        context.runReady()
        tokens.value[0].giveBack()
        context.advance(by: .milliseconds(1_200))
        limiter.submit { began.withValue { $0 += 1 } }
        context.runReady()
        // The limiter has regained the second one, after one second.
        tokens.value[1].giveBack()
        for _ in 0..<2 { limiter.submit { began.withValue { $0 += 1 } } }
        context.runReady()
        #expect(began.value == 2)
    }

    @Test(arguments: [
        (1.0, 365 * 86_400, 100), (1.0, 100 * 365 * 86_400, 150), (0.001, 3_600, 500),
    ])
    func `Law 32: a burst is as large as it was made, however long its tokens take`(
        rate: Double, seconds: Int, burst: Int
    ) {
        let context = ManualContext()
        let limiter = RateLimiter(on: context, rate: rate, per: .seconds(seconds), burst: burst)
        let began = Box(0)
        for _ in 0..<(burst + 20) { limiter.execute { began.withValue { $0 += 1 } } }
        context.runReady()
        #expect(began.value == burst)
    }

    @Test func `Law 7: of a long burst all tokens come back that may, and no other`() {
        let context = ManualContext()
        let limiter = RateLimiter(on: context, rate: 1, per: .seconds(1_000), burst: 700)
        let (tokens, began) = (Box<[RateLimiterToken]>([]), Box(0))
        for _ in 0..<700 { limiter.submit { token in tokens.withValue { $0.append(token) } } }
        context.runReady()
        for token in tokens.value { token.giveBack() }
        for _ in 0..<800 { limiter.execute { began.withValue { $0 += 1 } } }
        context.runReady()
        #expect((256...700).contains(began.value))
        // The oldest are gone; those that have come back count once.
        for token in tokens.value { token.giveBack() }
        context.runReady()
        #expect((256...700).contains(began.value))
    }
}
