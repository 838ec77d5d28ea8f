import AsyncFunctions
import ExecutionContexts
import TestSupport
import Testing

/// Delays on the real clock.
@Suite(.patient)
struct DelayTests {
    @Test(arguments: Way.delayed)
    func `Law 7: a delay is never shorter than asked for`(_ way: Way) async {
        let clock = ContinuousClock()
        let start = clock.now
        await untilFreed { end in way.submit(milliseconds: 10) { _ = end } }
        #expect(clock.now - start >= .milliseconds(10))
    }

    @Test(arguments: Way.inSeconds, [0, -0.0, -1, -1e300, -Double.infinity])
    func `Law 7: zero and negative seconds mean as soon as possible`(_ way: Way, _ seconds: Double)
        async
    {
        await untilFreed { end in
            let delay = way.submit(seconds: seconds) { _ = end }
            #expect(delay.deadline <= SystemTime.shared.now)
        }
    }

    @Test(arguments: Way.inSeconds, [Duration.zero, .nanoseconds(-1), .seconds(Int64.min)])
    func `Law 7: zero and negative durations mean as soon as possible`(
        _ way: Way, _ duration: Duration
    ) async {
        await untilFreed { end in
            let delay = way.submit(after: duration) { _ = end }
            #expect(delay.deadline <= SystemTime.shared.now)
        }
    }

    @Test(arguments: Way.inSeconds, [1e10, 1e300, Double.greatestFiniteMagnitude, Double.infinity])
    func `Law 7: huge seconds saturate, and an infinite delay never ends`(
        _ way: Way, _ seconds: Double
    ) async {
        await untilFreed { end in
            expectNever(way.submit(seconds: seconds) { [end] in Issue.record("It came, \(end)") })
        }
    }

    @Test(arguments: Way.inSeconds, [Duration.seconds(10_000_000_000), .seconds(Int64.max)])
    func `Law 7: huge durations saturate`(_ way: Way, _ duration: Duration) async {
        await untilFreed { end in
            expectNever(way.submit(after: duration) { [end] in Issue.record("It came, \(end)") })
        }
    }

    private func expectNever(_ delay: DelayedWork) {
        #expect(delay.deadline == .never)
        #expect(delay.isWaiting)
        #expect(delay.cancel())
    }

    @Test(arguments: Way.delayed)
    func `Law 7: a cancelled job never runs, is released at once, and is cancelled once`(_ way: Way)
        throws
    {
        weak var capture: Log?
        let delay: DelayedWork
        do {
            let log = Log()
            capture = log
            delay = try #require(
                way.submit(milliseconds: 3_600_000) { log.add("It was cancelled.") })
        }
        #expect(capture != nil)
        #expect(delay.cancel())
        #expect(capture == nil)
        #expect(!delay.cancel())
        #expect(!delay.isWaiting)
    }

    @Test(arguments: Way.delayed)
    func `Law 7: a job that has started cannot be cancelled, not even by itself`(_ way: Way) async {
        let handle = Box<DelayedWork?>(nil)
        let answers = Box<[Bool?]>([])
        await untilFreed { end in
            // Under the lock until it is stored, so that the job finds it.
            handle.withValue { stored in
                stored = way.submit {
                    let answer = handle.withValue { $0 }?.cancel()
                    answers.withValue { $0.append(answer) }
                    _ = end
                }
            }
        }
        #expect(answers.value == [false])
        #expect(handle.value?.cancel() == false)
        handle.withValue { $0 = nil }
    }

    @Test(arguments: Way.delayed)
    func `The source location of a delay is that of its caller`(_ way: Way) throws {
        // Once through the helper, which is in another file, and once from here.
        let helped = try #require(way.submit(milliseconds: 3_600_000) {})
        #expect(helped.sourceLocation.contains("/Ways.swift:"))
        let line = #line + 1
        let direct = way.isMain ? mainThread(delay: .infinity) {} : async(delay: .infinity) {}
        #expect(direct.sourceLocation == "AsyncFunctionsTests/DelayTests.swift:\(line)")
        #expect(helped.cancel() && direct.cancel())
    }

    @Test func `Law 7: NaN seconds trap`() async throws {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent])
        {
            async(delay: .nan) {}
        }
        try expectTrap(result, "NaN", "law 7", "DelayTests.swift", "infinity for never")
    }

    @Test func `Law 7: NaN seconds trap, on main too`() async throws {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent])
        {
            mainThread(delay: .nan) {}
        }
        try expectTrap(result, "NaN", "law 7", "DelayTests.swift", "infinity for never")
    }
}
