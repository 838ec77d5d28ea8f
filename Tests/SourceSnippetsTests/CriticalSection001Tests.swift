import Dispatch
import ExecutionContexts
import Foundation
import TestSupport
import Testing

// The snippets of the document on the coordination utilities, unchanged. Each test checks what the
// document says of its snippet.

@Suite(.patient)
struct CriticalSection001Tests {
    @Test func `Law 14: one thread at a time executes the snippet's code`() async {
        let cs = CriticalSection()
        let counter = Counter()
        await onOwnThreads(4) {
            for _ in 0..<1_000 {
                cs.execute {
                    counter.count += 1
                }
            }
        }
        #expect(cs.execute { counter.count } == 4_000)
    }

    @Test func `Law 14: a thread does not deadlock on the snippet's section that it is inside of`()
    {
        let cs = CriticalSection()
        var order = ""
        cs.execute {
            order += "1"
            cs.execute {
                order += "2"
            }
            order += "3"
        }
        #expect(order == "123")
    }

    @Test func `Law 14: the snippet's lock is consistent after an error`() async {
        let cs = CriticalSection()
        #expect(throws: CancellationError.self) {
            try cs.execute {
                throw CancellationError()
            }
        }
        #expect(await onOwnThread { cs.executeWithTimeout(0) {} })
    }

    @Test func `Law 15: within the time limit the snippet's code runs, and the call says so`() {
        var hasExecuted = false
        var hasTimedOut = false
        let cs = CriticalSection()

        let success = cs.executeWithTimeout(1.0) {
            // code to execute
            hasExecuted = true
        }

        if !success {
            // handle the fact that `executeWithTimeout()` timed out
            hasTimedOut = true
        }
        #expect(success && hasExecuted && !hasTimedOut)
    }

    @Test
    func `Law 15: after the time limit the snippet's code does not run, and the call says so`()
        async
    {
        let cs = CriticalSection()
        let held = DispatchSemaphore(value: 0)
        let release = DispatchSemaphore(value: 0)
        async let holder: Void = onOwnThread {
            cs.execute {
                held.signal()
                release.wait()
            }
        }
        let (success, hasExecuted, waited) = await onOwnThread {
            held.wait()
            let clock = ContinuousClock()
            let start = clock.now
            var hasExecuted = false

            let success = cs.executeWithTimeout(1.0) {
                // code to execute
                hasExecuted = true
            }

            defer { release.signal() }
            return (success, hasExecuted, clock.now - start)
        }
        await holder
        #expect(!success && !hasExecuted)
        #expect(waited >= .seconds(1))
    }
}

/// A count without a lock of its own.
private final class Counter: @unchecked Sendable {
    // Unchecked: the test uses it inside the section only, and checks that this suffices.
    var count = 0
}
