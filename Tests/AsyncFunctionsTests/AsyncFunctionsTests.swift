import AsyncFunctions
import Dispatch
import ExecutionContexts
import Foundation
import Testing

/// The functions on their own contexts.
@Suite(.timeLimit(.minutes(30)))
struct AsyncFunctionsTests {
    @Test(arguments: Way.allCases, Way.allCases)
    func `Law 1: work runs, also when work submits it, and is let go of`(_ outer: Way, _ inner: Way) async {
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

    @Test func `Pieces of async run beside each other`() async {
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

    @Test func `Law 3: a barrier is behind earlier work and before later work`() async {
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
            // Time enough for what does not wait for its turn.
            GlobalContext().schedule(after: 0.01) { for _ in 0..<4 { mayEnd.signal() } }
        }
        let after = Array(repeating: "after", count: 50)
        #expect(log.entries == ["before", "before", "before", "before", "barrier"] + after)
    }

    @Test func `Law 3: nothing runs beside a barrier`() async {
        let inside = Box(0)
        let crowds = Box<[Int]>([])
        /// Stays inside for a while, and says how many were there.
        @Sendable func visit() -> Int {
            inside.withValue { $0 += 1 }
            for _ in 0..<20 { sched_yield() }
            let crowd = inside.value
            inside.withValue { $0 -= 1 }
            return crowd
        }
        await untilFreed { end in
            for _ in 0..<100 {
                for _ in 0..<5 { async { _ = visit() } }
                asyncBarrier {
                    let crowd = visit()
                    crowds.withValue { $0.append(crowd) }
                    _ = end
                }
            }
        }
        #expect(crowds.value == Array(repeating: 1, count: 100))
    }

    @Test func `Law 3: a barrier does not wait for work that is not due`() async {
        let delay = async(delay: 3_600) { Issue.record("It was cancelled.") }
        await untilFreed { end in asyncBarrier { _ = end } }
        #expect(delay.cancel())
    }

    @Test func `Law 3: work that becomes due during a barrier starts after it`() async {
        let log = Log()
        await untilFreed { end in
            asyncBarrier {
                async(delay: 0.001) {
                    log.add("delayed")
                    _ = end
                }
                // A later delay elsewhere: when it fires, the first has been submitted.
                let fired = DispatchSemaphore(value: 0)
                GlobalContext().schedule(after: 0.005) { fired.signal() }
                fired.wait()
                log.add("the barrier's end")
            }
        }
        #expect(log.entries == ["the barrier's end", "delayed"])
    }

    @Test func `Inside a type with a method called async the module's name leads to the function`() async {
        await untilFreed { end in Shadowing().start(end) }
    }
}

/// Has an `async` of its own, which hides the function.
private struct Shadowing {
    func async(_ work: () -> Void) { Issue.record("This one was not meant.") }

    func start(_ end: Farewell) {
        AsyncFunctions.async { _ = end }
        AsyncFunctions.async(delay: 0) { _ = end }
    }
}
