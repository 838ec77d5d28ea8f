import Dispatch
import ExecutionContexts
import Foundation
import TestSupport
import Testing

/// Law 15: with a time limit, either the body runs or nothing runs, and the call says which.
@Suite(.patient)
struct CriticalSectionTimeoutTests {
    /// Limits that expire at once or soon.
    private static let short: [Double] = [
        0, -0.0, -1, -.infinity, -.greatestFiniteMagnitude, .leastNonzeroMagnitude, 1e-9, 0.002,
    ]
    private static let endless: [Double] = [.infinity, .greatestFiniteMagnitude, 1e300, 1e10]
    private static let shortDurations: [Duration] = [
        .zero, .seconds(-1), .seconds(Int64.min),
        Duration(secondsComponent: 0, attosecondsComponent: 1),
        .nanoseconds(1), .milliseconds(2),
    ]
    private static let endlessDurations: [Duration] = [
        .seconds(Int64.max), .seconds(Int64.max / 2), .nanoseconds(Int64.max),
    ]

    @Test(arguments: short + endless)
    func `Law 15: a free section is entered with any limit in seconds`(_ limit: Double) async {
        await offThePool {
            let section = CriticalSection()
            var count = 0
            let ranAlone = section.executeWithTimeout(limit) { count += 1 }
            #expect(ranAlone)
            // Also from inside, where there is nothing to wait for.
            section.execute {
                let ran = section.executeWithTimeout(limit) { count += 1 }
                #expect(ran && section.isCurrent == true)
            }
            #expect(count == 2)
        }
    }

    @Test(arguments: shortDurations + endlessDurations)
    func `Law 15: a free section is entered with any limit given as a Duration`(_ limit: Duration)
        async
    {
        await offThePool {
            let section = CriticalSection()
            #expect(section.execute(timeout: limit) { 1 } == 1)
            section.execute {
                let value = section.execute(timeout: limit) { 2 }
                #expect(value == 2 && section.isCurrent == true)
            }
        }
    }

    @Test func `Law 15: a waiter for a taken section gives up, never early, and runs nothing`()
        async
    {
        await watched {
            let section = CriticalSection()
            section.execute {
                onThreads(1) {
                    for limit in Self.short {
                        let start = SystemTime.shared.now
                        let ran = section.executeWithTimeout(limit) { Issue.record("ran") }
                        #expect(!ran)
                        if limit > 0 { expectNotEarly(start, .seconds(limit)) }
                    }
                    for limit in Self.shortDurations {
                        let start = SystemTime.shared.now
                        let value: Int? = section.execute(timeout: limit) { 1 }
                        #expect(value == nil)
                        if limit > .zero { expectNotEarly(start, limit) }
                    }
                }
            }
            #expect(section.executeWithTimeout(0) {})
        }
    }

    @Test func `Law 15: waiters with huge limits wait until the section is free`() async {
        await watched {
            let section = CriticalSection()
            let count = Box(0)
            let waiting = DispatchGroup()
            section.execute {
                var bodies: [@Sendable () -> Bool] = []
                for limit in Self.endless {
                    bodies.append { section.executeWithTimeout(limit) { count.add(1) } }
                }
                for limit in Self.endlessDurations {
                    bodies.append { section.execute(timeout: limit) { count.add(1) } != nil }
                }
                for body in bodies {
                    waiting.enter()
                    Thread.detachNewThread {
                        #expect(body())
                        waiting.leave()
                    }
                }
                // The waiters have time to give up, if they would.
                _ = isFreeElsewhere(section)
                onThreads(1) { _ = section.executeWithTimeout(0.01) {} }
                #expect(count.value == 0)
            }
            waiting.wait()
            #expect(count.value == Self.endless.count + Self.endlessDurations.count)
        }
    }

    @Test func `Law 15: a body that does not return delays no waiter beyond its time limit`() async
    {
        await watched {
            let section = CriticalSection()
            let end = DispatchSemaphore(value: 0)
            let isInside = DispatchSemaphore(value: 0)
            let done = DispatchGroup()
            done.enter()
            Thread.detachNewThread {
                section.execute {
                    isInside.signal()
                    end.wait()
                }
                done.leave()
            }
            isInside.wait()
            onThreads(3) {
                for _ in 0..<5 {
                    let ran = section.executeWithTimeout(0.001) { Issue.record("ran") }
                    #expect(!ran)
                }
            }
            end.signal()
            done.wait()
            #expect(section.executeWithTimeout(0) {})
        }
    }

    @Test func `Law 15: a time limit is one on waiting, not on the body`() async {
        await offThePool {
            let section = CriticalSection()
            let ran = section.executeWithTimeout(0.001) {
                #expect(!isFreeElsewhere(section))
                onThreads(1) { _ = section.executeWithTimeout(0.005) {} }
                #expect(section.isCurrent == true)
            }
            #expect(ran)
        }
    }

    @Test func `Law 15: a limit of NaN seconds traps with a message`() async throws {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent])
        {
            _ = CriticalSection().executeWithTimeout(.nan) {}
        }
        try expectTrap(result, "NaN", "law 15", "CriticalSectionTimeoutTests.swift")
    }
}

/// Expects that `limit` has passed since `start`, by the clock that measures time limits.
func expectNotEarly(
    _ start: ContextInstant, _ limit: Duration, sourceLocation: SourceLocation = #_sourceLocation
) {
    let waited = start.duration(to: SystemTime.shared.now)
    #expect(waited >= limit, "gave up after \(waited) of \(limit)", sourceLocation: sourceLocation)
}

extension Box where Value == Int {
    func add(_ amount: Int) { withValue { $0 += amount } }
}
