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
}
