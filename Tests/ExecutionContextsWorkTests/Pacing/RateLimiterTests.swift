import ExecutionContexts
import ExecutionContextsTesting
import ExecutionContextsWork
import TestSupport
import Testing

/// A rate limiter in virtual time, step by step.
@Suite(.patient)
struct RateLimiterTests {
    private let manual = ManualContext()
    private let log = Box<[String]>([])

    /// A job that logs its name and the tenth of a second in which it began.
    private func note(_ name: String) -> @Sendable () -> Void {
        { [log, manual] in
            log.withValue { $0.append("\(name) \(manual.now.nanoseconds / 100_000_000)") }
        }
    }

    @Test func `Law 7: after a quiet period a burst begins, then one job at a time, never early`()
        throws
    {
        let limiter = RateLimiter(on: manual, rate: 10, burst: 3)
        for index in 1...6 { limiter.execute(note("\(index)")) }
        #expect(limiter.pendingCount == 6)
        manual.runReady()
        #expect(log.value == ["1 0", "2 0", "3 0"])
        #expect(manual.delayedCount == 1)
        manual.advance(by: .nanoseconds(99_999_999))
        #expect(log.value.count == 3)
        try manual.runUntilIdle()
        #expect(log.value == ["1 0", "2 0", "3 0", "4 1", "5 2", "6 3"])
        #expect(limiter.pendingCount == 0)
        manual.advance(by: .milliseconds(250))
        for index in 7...10 { limiter.execute(note("\(index)")) }
        manual.runReady()
        #expect(log.value.suffix(2) == ["7 5", "8 5"])
    }

    @Test func `Law 7: a late context begins no more than a burst at once`() throws {
        let limiter = RateLimiter(on: manual, rate: 10, burst: 2)
        for index in 1...5 { limiter.execute(note("\(index)")) }
        manual.stall(for: .seconds(10))
        try manual.runUntilIdle()
        #expect(log.value == ["1 100", "2 100", "3 101", "4 102", "5 103"])
    }

    @Test func `Nothing overtakes a waiting job, and at most one delay is pending`() throws {
        let limiter = RateLimiter(on: manual, rate: 1)
        for index in 1...3 { limiter.execute(note("\(index)")) }
        manual.runReady()
        manual.stall(for: .seconds(5))
        limiter.execute(note("late"))
        #expect(manual.delayedCount + manual.readyCount <= 2)
        try manual.runUntilIdle()
        #expect(log.value.map { $0.prefix { $0 != " " } } == ["1", "2", "3", "late"])
    }

    @Test func `A job that need not wait keeps its order among the context's other jobs`() {
        let limiter = RateLimiter(on: manual, rate: 1, burst: 2)
        limiter.execute(note("a"))
        manual.execute(note("between"))
        limiter.execute(note("b"))
        manual.execute(note("after"))
        manual.runReady()
        #expect(log.value == ["a 0", "between 0", "b 0", "after 0"])
    }

    @Test func `Law 9: a job of the limiter may submit to it, behind earlier submissions`() throws {
        let limiter = RateLimiter(on: manual, rate: 1, burst: 2)
        limiter.execute { [note] in
            note("outer")()
            limiter.execute(note("inner"))
        }
        limiter.execute(note("second"))
        try manual.runUntilIdle()
        #expect(log.value == ["outer 0", "second 0", "inner 10"])
    }

    @Test
    func `Law 32: a cancelled job takes no token, never begins and frees its captures at once`()
        throws
    {
        let limiter = RateLimiter(on: manual, rate: 1)
        limiter.execute(note("first"))
        manual.runReady()
        weak var capture: Box<Int>?
        let waiting: Async<Int>
        do {
            let captured = Box(1)
            capture = captured
            waiting = limiter.submit { captured.value }
        }
        limiter.execute(note("second"))
        manual.runReady()
        #expect(waiting.cancel())
        #expect(capture == nil)
        #expect(limiter.pendingCount == 1)
        try manual.runUntilIdle()
        #expect(log.value == ["first 0", "second 10"])
        #expect(throws: CancellationError.self) { try waiting.outcome?.get() }
    }

    @Test func `Law 11: cancelling the last waiting job cancels the delay`() {
        let limiter = RateLimiter(on: manual, rate: 1)
        limiter.execute {}
        let waiting = limiter.submit { 1 }
        manual.runReady()
        #expect(manual.delayedCount == 1)
        waiting.cancel()
        #expect(manual.delayedCount == 0)
        #expect(throws: Never.self) { try manual.finish() }
    }

    @Test func `Each submission gives the context one job, and a cancellation none`() {
        let limiter = RateLimiter(on: manual, rate: 1, burst: 3)
        let works = (0..<3).map { index in limiter.submit { index } }
        #expect(manual.readyCount == 3)
        works[1].cancel()
        #expect(manual.readyCount == 3)
        #expect(manual.runReady() == 3)
        #expect(works.map { $0.isCompleted } == [true, true, true])
    }

    @Test func `A submission ends with the value or the error of its body`() throws {
        struct Failure: Error {}
        let limiter = RateLimiter(on: manual, rate: 5)
        let (good, bad) = (limiter.submit { 42 }, limiter.submit { throw Failure() })
        try manual.runUntilIdle()
        #expect(try good.outcome?.get() == 42)
        #expect(throws: Failure.self) { try bad.outcome?.get() }
    }

    @Test func `Law 10: a released limiter runs the jobs that it has accepted`() throws {
        var limiter: RateLimiter? = RateLimiter(on: manual, rate: 1)
        for index in 1...3 { limiter?.execute(note("\(index)")) }
        limiter = nil
        try manual.runUntilIdle()
        #expect(log.value == ["1 0", "2 10", "3 20"])
    }

    @Test
    func `Laws 1, 32: a job that a full context refuses ends with the refusal and takes no token`()
        throws
    {
        let bounded = manual.bounded(to: 1, overflow: .refuse)
        let limiter = RateLimiter(on: bounded, rate: 1, burst: 3)
        let works = (0..<3).map { index in limiter.submit { index } }
        limiter.execute(note("plain"))
        #expect(throws: Refusal.self) { try works[1].outcome?.get() }
        #expect(throws: Refusal.self) { try works[2].outcome?.get() }
        try manual.runUntilIdle()
        #expect(try works[0].outcome?.get() == 0)
        #expect(log.value == ["plain 0"])
        limiter.execute(note("next"))
        manual.runReady()
        #expect(log.value == ["plain 0", "next 0"])
    }

    @Test func `Law 1: if a context drops every job, every caller gets a refusal`() throws {
        let limiter = RateLimiter(on: manual, rate: 1)
        let works = (0..<5).map { index in limiter.submit { index } }
        #expect(manual.step())
        #expect(throws: ManualFailure.self) { try manual.finish() }
        for work in works.dropFirst() { #expect(throws: Refusal.self) { try work.outcome?.get() } }
        #expect(limiter.pendingCount == 0)
        // The same while the limiter waits for its delay.
        limiter.execute(note("a token is there in a second"))
        let waiting = limiter.submit { 1 }
        manual.runReady()
        #expect(manual.delayedCount == 1)
        #expect(throws: ManualFailure.self) { try manual.finish() }
        #expect(throws: Refusal.self) { try waiting.outcome?.get() }
        limiter.execute(note("goes on"))
        try manual.runUntilIdle()
        #expect(log.value == ["goes on 10"])
    }

    @Test func `Law 7: a hundred thousand jobs that may begin at once do not nest`() {
        let limiter = RateLimiter(on: manual.inlineIfCurrent(), rate: 1, burst: 100_000)
        let count = Box(0)
        limiter.execute { for _ in 1..<100_000 { limiter.execute { count.withValue { $0 += 1 } } } }
        manual.runReady()
        #expect(count.value == 99_999)
    }

    @Test(arguments: [(3.0, 7), (0.5, 1), (1e9, 2), (1e-12, 1), (12.5, 4)])
    func `Law 7: in no span of time do more jobs begin than the burst and the rate allow`(
        _ rate: Double, _ burst: Int
    ) throws {
        let limiter = RateLimiter(on: manual, rate: rate, burst: burst)
        let starts = Box<[Int64]>([])
        for _ in 0..<50 {
            limiter.execute { [manual] in starts.withValue { $0.append(manual.now.nanoseconds) } }
        }
        if rate < 1e-6 { manual.advance(by: .seconds(3600)) } else { try manual.runUntilIdle() }
        let times = starts.value
        #expect(times.count == (rate < 1e-6 ? burst : 50))
        for first in times.indices {
            for last in first..<times.count {
                let seconds = Double(times[last] - times[first]) / 1e9
                #expect(Double(last - first + 1) <= Double(burst) + seconds * rate + 1e-6)
            }
        }
    }

    #if compiler(>=6.3)
    @Test(arguments: 0..<4)
    func `An invalid rate, period or burst traps with a message`(_ index: Int) async throws {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent])
        {
            [index] in
            let manual = ManualContext(name: "mail")
            switch index {
            case 0: _ = RateLimiter(on: manual, rate: 0)
            case 1: _ = RateLimiter(on: manual, rate: .infinity)
            case 2: _ = RateLimiter(on: manual, rate: 1, per: .seconds(-1))
            default: _ = RateLimiter(on: manual, rate: 1, burst: 0)
            }
        }
        try expectTrap(result, "'mail'", "law 32", "Pass")
    }
    #endif

    @Test func `Laws 32, 33: under every schedule each job begins in order or is cancelled`() async
    {
        await underEverySchedule("rate limiter") { sim, _ in
            let limiter = RateLimiter(on: sim.serial(named: "mail"), rate: 1, burst: 2)
            let (ran, cancelled) = (Box<[String]>([]), Box(0))
            for name in ["a", "b"] {
                sim.spawn(name) {
                    limiter.execute { ran.withValue { $0.append("\(name)1") } }
                    let work = limiter.submit { ran.withValue { $0.append("\(name)2") } }
                    limiter.execute { ran.withValue { $0.append("\(name)3") } }
                    if work.cancel() { cancelled.withValue { $0 += 1 } }
                }
                sim.finally("\(name) in order") {
                    let own = ran.value.filter { $0.hasPrefix(name) }
                    return own == own.sorted() && own.count >= 2
                }
            }
            sim.finally("no job is left") { limiter.pendingCount == 0 }
        }
    }
}
