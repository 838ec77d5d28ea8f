import Dispatch
import ExecutionContexts
import ExecutionContextsTesting
import Foundation
import TestSupport
import Testing

/// Time limits of waits for semaphores and groups, which are in simulated time.
@Suite(.patient, .dispatchIsSimulated)
struct PlainSemaphoreLimitTests {
    private static let start = ContinuousClock.now

    private struct Wrong: Error {
        let what: String
        init(_ what: String) { self.what = what }
    }

    private static func require(_ holds: Bool, _ what: String = #function) throws {
        if !holds { throw Wrong(what) }
    }

    private static func expectNoFailure(
        _ name: String, schedules: Int = rounds(debug: 100, release: 300),
        strategy: SimulationStrategy = .portfolio,
        time: SimulationTime = .whenIdle, sourceLocation: SourceLocation = #_sourceLocation,
        _ body: @escaping @Sendable (SimulatedWorld) throws -> Void
    ) {
        let report = search(
            name, schedules: schedules, strategy: strategy, time: time, ignoring: [.vacuous],
            body)
        #expect(report.failure == nil, "\(report)", sourceLocation: sourceLocation)
    }

    /// Calls the wait of a semaphore or of a group that nothing lets go on.
    static let waits: [@Sendable (DispatchTime) -> DispatchTimeoutResult] = [
        { DispatchSemaphore(value: 0).wait(timeout: $0) },
        {
            let group = DispatchGroup()
            group.enter()
            defer { group.leave() }
            return group.wait(timeout: $0)
        },
    ]

    @Test(arguments: waits.indices)
    func `Law 33: a wait ends at its limit, exactly`(_ index: Int) {
        Self.expectNoFailure("limit") { sim in
            sim.spawn("waiter") {
                let begin = ContinuousClock.now
                for seconds in [60, 600] {
                    let result = Self.waits[index](.now() + .seconds(seconds))
                    try Self.require(result == .timedOut, "the result")
                }
                try Self.require(ContinuousClock.now - begin == .seconds(660), "how long")
            }
            sim.spawn("other") { for _ in 0..<3 { sim.step() } }
        }
    }

    @Test(arguments: waits.indices)
    func `Law 33: a limit that has passed lets no time pass`(_ index: Int) {
        Self.expectNoFailure("passed") { sim in
            sim.spawn("waiter") {
                let begin = ContinuousClock.now
                for limit in [
                    DispatchTime.now(), .now() - 5, DispatchTime(uptimeNanoseconds: 1),
                    .now() + .nanoseconds(0),
                ] {
                    try Self.require(Self.waits[index](limit) == .timedOut, "the result")
                }
                try Self.require(ContinuousClock.now == begin, "how long")
            }
        }
    }

    @Test func `Law 33: a limit is of the time at which it was read, not of the wait`() {
        Self.expectNoFailure("read earlier", strategy: .random) { sim in
            let semaphore = DispatchSemaphore(value: 0)
            sim.spawn("waiter") {
                let begin = ContinuousClock.now
                let limit = DispatchTime.now() + 100
                Thread.sleep(forTimeInterval: 40)
                // The same instant, for both.
                for _ in 0..<2 {
                    try Self.require(semaphore.wait(timeout: limit) == .timedOut, "the result")
                    try Self.require(ContinuousClock.now - begin == .seconds(100), "the end")
                }
            }
            sim.spawn("other") { for _ in 0..<5 { sim.step() } }
        }
    }

    @Test func `Law 33: limits by the wall clock, and none at all`() {
        Self.expectNoFailure("wall") { sim in
            let semaphore = DispatchSemaphore(value: 0)
            sim.spawn("waiter") {
                let date = Date()
                let wall = semaphore.wait(wallTimeout: .now() + 30)
                try Self.require(wall == .timedOut && Date() == date + 30, "wall clock")
                let seconds = Int(date.timeIntervalSince1970) + 50
                // It is two words. Which module its members belong to depends on the build.
                let spec = unsafe unsafeBitCast((seconds, 0), to: timespec.self)
                let past = semaphore.wait(wallTimeout: DispatchWallTime(timespec: spec))
                try Self.require(past == .timedOut && Date() == date + 50, "a date")
                try Self.require(semaphore.wait(timeout: .distantFuture) == .success, "for ever")
                try Self.require(semaphore.wait(wallTimeout: .distantFuture) == .success, "wall")
            }
            sim.spawn("signaller") {
                Thread.sleep(forTimeInterval: 60)
                semaphore.signal()
                semaphore.signal()
            }
        }
    }

    @Test func `Law 33: a limit that was read outside is as long, and one instant in a schedule`() {
        let limit = DispatchTime.now() + 1_000
        let wall = DispatchWallTime.now() + 1_000
        Self.expectNoFailure("outside", schedules: 20) { sim in
            let semaphore = DispatchSemaphore(value: 0)
            sim.spawn("waiter") {
                let begin = ContinuousClock.now
                try Self.require(semaphore.wait(timeout: limit) == .timedOut, "the result")
                let first = ContinuousClock.now - begin
                try Self.require(first > .seconds(600) && first <= .seconds(1_001), "\(first)")
                try Self.require(semaphore.wait(timeout: limit) == .timedOut, "once more")
                try Self.require(ContinuousClock.now - begin == first, "the same instant")
                try Self.require(semaphore.wait(wallTimeout: wall) == .timedOut, "wall")
            }
        }
    }

    @Test func `Law 33: a signal before the limit is had, and one after it is not lost`() {
        Self.expectNoFailure("in time") { sim in
            let semaphore = DispatchSemaphore(value: 0)
            sim.spawn("waiter") {
                try Self.require(semaphore.wait(timeout: .now() + 10) == .timedOut, "too early")
                try Self.require(semaphore.wait(timeout: .now() + 10) == .success, "in time")
                try Self.require(semaphore.wait(timeout: .now() + 10) == .success, "one more")
                try Self.require(semaphore.wait(timeout: .now()) == .timedOut, "no third")
            }
            sim.spawn("signaller") {
                Thread.sleep(forTimeInterval: 15)
                semaphore.signal()
                semaphore.signal()
            }
        }
    }

    @Test func `Law 33: a signal and a limit at one instant come in both orders`() {
        let results = Box<Set<String>>([])
        Self.expectNoFailure("one instant") { sim in
            let semaphore = DispatchSemaphore(value: 0)
            sim.spawn("waiter") {
                let result = semaphore.wait(timeout: .now() + 10)
                results.withValue { _ = $0.insert("\(result)") }
                if result == .timedOut { semaphore.wait() }
                try Self.require(semaphore.wait(timeout: .now()) == .timedOut, "one signal")
            }
            sim.spawn("signaller") {
                Thread.sleep(forTimeInterval: 10)
                semaphore.signal()
            }
        }
        #expect(results.value.count == 2, "\(results.value)")
    }

    @Test func `Law 33: a short limit races with a signal where the clock does`() {
        let results = Box<Set<String>>([])
        Self.expectNoFailure("racing", schedules: 1_000, time: .racing) { sim in
            let semaphore = DispatchSemaphore(value: 0)
            sim.spawn("waiter") {
                let result = semaphore.wait(timeout: .now() + .milliseconds(1))
                results.withValue { _ = $0.insert("\(result)") }
            }
            sim.spawn("signaller") { semaphore.signal() }
        }
        #expect(results.value.count == 2, "\(results.value)")
    }

    @Test func `Law 33: a loop of short waits ends when its clock shows the end`() {
        Self.expectNoFailure("polling", schedules: 20) { sim in
            let semaphore = DispatchSemaphore(value: 0)
            sim.spawn("waiter") {
                let (begin, limit) = (ContinuousClock.now, Date() + 1)
                while semaphore.wait(timeout: .now() + .milliseconds(10)) == .timedOut {
                    if Date() >= limit { break }
                }
                try Self.require(ContinuousClock.now - begin == .seconds(1), "the end")
            }
        }
    }

    @Test func `Law 33: intervals that are not round, and limits that are made of others`() {
        Self.expectNoFailure("odd", schedules: 100) { sim in
            let semaphore = DispatchSemaphore(value: 0)
            sim.spawn("waiter") {
                let begin = ContinuousClock.now
                try Self.require(
                    semaphore.wait(timeout: .now() + .nanoseconds(333_333_333)) == .timedOut,
                    "third")
                try Self.require(
                    ContinuousClock.now - begin == .nanoseconds(333_333_333), "to the nanosecond")
                let base = DispatchTime.now()
                let limits = (1...5).map { base + .seconds($0) + .microseconds(7) }
                for (number, limit) in limits.enumerated() {
                    // The clock goes on, and is read again and again.
                    for _ in 0..<100 { _ = DispatchTime.now() + .milliseconds(number) }
                    try Self.require(semaphore.wait(timeout: limit) == .timedOut, "the result")
                    let expected = Duration.seconds(number + 1) + .nanoseconds(333_340_333)
                    try Self.require(
                        ContinuousClock.now - begin == expected, "\(ContinuousClock.now - begin)")
                }
            }
        }
    }

    @Test func `Law 33: outside of simulations Dispatch's clocks are real`() {
        _ = search("clocks", schedules: 1) { sim in sim.spawn("a") { _ = DispatchTime.now() } }
        let uptime = Double(DispatchTime.now().uptimeNanoseconds) / 1e9
        #expect(uptime <= ProcessInfo.processInfo.systemUptime)
        #expect(DispatchSemaphore(value: 0).wait(timeout: .now()) == .timedOut)
    }
}
