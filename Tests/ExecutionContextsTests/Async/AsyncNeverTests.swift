import ExecutionContexts
import ExecutionContextsTesting
import Foundation
import TestSupport
import Testing

/// Promises that the optimizer drops without their `deinit`.
///
/// It does so in a function that ends in `Never`, and frees early what the promise refers to. A
/// dangling link shows in release only, and best under the address sanitizer.
@Suite(.patient)
struct AsyncNeverTests {
    @Test func `A time limit runs out on a promise that the optimizer has dropped`() async {
        await #expect(processExitsWith: .exitCode(3)) {
            let manual = ManualContext(), promise = Promise<Int>()
            let isNotified = Box(false)
            promise.async.timeout(after: .seconds(3), on: manual).onFailure { _ in
                isNotified.value = true
            }
            manual.advance(by: .seconds(4))
            withExtendedLifetime(promise) {}
            exit(isNotified.value ? 3 : 1)
        }
    }

    @Test func `Subscribers of a promise that the optimizer has dropped can be cancelled`() async {
        await #expect(processExitsWith: .exitCode(3)) {
            let promise = Promise<Int>(), followed = Promise<Int>(), token = InvalidationToken()
            let mapped = promise.async.map { $0 }.map { $0 }
            followed.follow(promise.async.map { $0 })
            promise.async.map { $0 }.onComplete(while: token) { _ in }
            let joined = Async.first(of: [Promise<Int>().async, promise.async.map { $0 }])
            let traversed = Async.traverse(0..<2, atMost: 2) { _ in promise.async.map { $0 } }
            token.invalidate()
            let all = [mapped.cancel(), followed.async.cancel(), traversed.cancel()]
            _ = joined.cancel()
            exit(all.allSatisfy { $0 } ? 3 : 1)
        }
    }

    @Test
    func `A future of a promise that the optimizer has dropped can be described and waited for`()
        async
    {
        await #expect(processExitsWith: .exitCode(3)) {
            // Not on the thread of a task, where waiting traps.
            Thread.detachNewThread { describeAndWait() }
            _ = try? await Promise<Int>.undropped().get()
        }
    }
}

private func describeAndWait() -> Never {
    let promise = Promise<Int>()
    let end = promise.async.map { $0 }.map { $0 }
    let description = "\(end)"
    let value = try? end.wait(timeout: .milliseconds(1))
    exit(description.hasPrefix("Async(waits for ") && value == nil ? 3 : 1)
}
