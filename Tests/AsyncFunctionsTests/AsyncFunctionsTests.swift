import AsyncFunctions
import Dispatch
import ExecutionContexts
import Foundation
import TestSupport
import Testing

/// The functions on their real contexts.
@Suite(.patient)
struct AsyncFunctionsTests {
    @Test(arguments: Way.allCases, Way.allCases)
    func `Law 1: jobs run and are released, also those that a job submits`(
        _ outer: Way, _ inner: Way
    ) async {
        let log = Log()
        await untilFreed { end in
            outer.submit {
                log.add("outer")
                inner.submit {
                    log.add("inner")
                    _ = end
                }
            }
        }
        #expect(log.entries == ["outer", "inner"])
    }

    @Test func `Jobs of async run concurrently`() async {
        let first = DispatchSemaphore(value: 0)
        let second = DispatchSemaphore(value: 0)
        await untilFreed { end in
            async {
                first.signal()
                second.wait()
                _ = end
            }
            async {
                second.signal()
                first.wait()
                _ = end
            }
        }
    }

    @Test func `Law 3: a barrier runs after earlier jobs and before later jobs`() async {
        let log = Log()
        let mayEnd = DispatchSemaphore(value: 0)
        await untilFreed { end in
            for _ in 0..<4 {
                async {
                    mayEnd.wait()
                    log.add("before")
                }
            }
            asyncBarrier { log.add("barrier") }
            for _ in 0..<50 { async { log.add("after") } }
            asyncBarrier { _ = end }
            // Time enough for any job that wrongly does not wait.
            // On a queue with a thread of its own: the jobs may keep all others.
            SerialQueueContext(name: "opens").schedule(after: .seconds(0.01)) {
                for _ in 0..<4 { mayEnd.signal() }
            }
        }
        let after = Array(repeating: "after", count: 50)
        #expect(log.entries == ["before", "before", "before", "before", "barrier"] + after)
    }

    @Test func `Law 3: no job runs beside a barrier`() async {
        let inside = Box(0)
        let counts = Box<[Int]>([])
        /// Stays inside for a while; returns how many jobs were inside.
        @Sendable func visit() -> Int {
            inside.withValue { $0 += 1 }
            for _ in 0..<20 { sched_yield() }
            let count = inside.value
            inside.withValue { $0 -= 1 }
            return count
        }
        await untilFreed { end in
            for _ in 0..<100 {
                for _ in 0..<5 { async { _ = visit() } }
                asyncBarrier {
                    let count = visit()
                    counts.withValue { $0.append(count) }
                    _ = end
                }
            }
        }
        #expect(counts.value == Array(repeating: 1, count: 100))
    }

    @Test func `Law 3: a barrier does not wait for a delayed job that is not due`() async {
        let delay = async(delay: 3_600) { Issue.record("It was cancelled.") }
        await untilFreed { end in asyncBarrier { _ = end } }
        #expect(delay.cancel())
    }

    @Test func `Law 3: a delayed job that becomes due during a barrier starts after it`() async {
        let log = Log()
        await untilFreed { end in
            asyncBarrier {
                async(delay: 0.001) {
                    log.add("delayed")
                    _ = end
                }
                // A longer delay elsewhere: when it fires, the first job has been submitted.
                let fired = DispatchSemaphore(value: 0)
                GlobalContext().schedule(after: .seconds(0.005)) { fired.signal() }
                fired.wait()
                log.add("the barrier's end")
            }
        }
        #expect(log.entries == ["the barrier's end", "delayed"])
    }

    @Test func `In a type with a method named async, the module's name selects the function`() async
    {
        await untilFreed { end in Shadowing().start(end) }
    }
}

/// A type with an `async` method, which hides the function.
private struct Shadowing {
    func async(_ work: () -> Void) {
        Issue.record("The method was called in place of the function.")
    }

    func start(_ end: Farewell) {
        AsyncFunctions.async { _ = end }
        AsyncFunctions.async(delay: 0) { _ = end }
    }
}
