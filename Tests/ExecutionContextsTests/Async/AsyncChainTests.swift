import Dispatch
import ExecutionContexts
import ExecutionContextsTesting
import Foundation
import TestSupport
import Testing

private struct Failure: Error, Equatable {}

/// Chains of any length neither overflow the stack nor change thread (law 25).
@Suite(.patient)
struct AsyncChainTests {
    static let length = rounds(debug: 30_000, release: 1_000_000)

    @Test func `Law 25: a chain of very many maps ends on the thread that completed its head`()
        async
    {
        await offThePool {
            let promise = Promise<Int>()
            var end = promise.async
            for _ in 0..<Self.length { end = end.map { $0 + 1 } }
            let thread = Box<ObjectIdentifier?>(nil)
            end.onComplete { _ in thread.value = ObjectIdentifier(Thread.current) }
            promise.succeed(0)
            #expect(end.value == Self.length)
            #expect(thread.value == ObjectIdentifier(Thread.current))
        }
    }

    @Test func `Law 25: a chain of very many promises that complete each other does not overflow`()
        async
    {
        await offThePool {
            let first = Promise<Int>()
            var last = first
            for _ in 0..<Self.length {
                let next = Promise<Int>()
                last.async.onSuccess { value in next.succeed(value + 1) }
                last = next
            }
            first.succeed(0)
            #expect(last.async.value == Self.length)
        }
    }

    @Test func `Law 25: flatMap may recurse very deep through futures that have completed`() async {
        @Sendable func count(_ left: Int) -> Async<Int> {
            left == 0 ? Async(.success(7)) : Async(.success(left)).flatMap { count($0 - 1) }
        }
        await offThePool {
            let end = count(Self.length)
            #expect(end.value == 7)
        }
    }

    @Test func `Law 25: flatMap may recurse very deep through futures that complete later`() async {
        let context = GlobalContext().serial(named: "steps")
        @Sendable func count(_ left: Int) -> Async<Int> {
            left == 0 ? Async(.success(7)) : context.submit { left }.flatMap { count($0 - 1) }
        }
        let value = try? await count(20_000).get()
        #expect(value == 7)
    }

    @Test func `Law 25: callbacks may register one another very many times over`() async {
        await offThePool {
            let value = Async(.success(1))
            let count = Box(0)
            @Sendable func register() {
                value.onComplete { _ in
                    count.withValue { $0 += 1 }
                    if count.value < Self.length { register() }
                }
            }
            register()
            #expect(count.value == Self.length)
        }
    }

    @Test func `Law 26: cancelling the end of very many maps reaches the promise at their head`()
        async
    {
        await offThePool {
            let promise = Promise<Int>()
            let wasCancelled = Box(false)
            promise.onCancel { wasCancelled.value = true }
            var end = promise.async
            for _ in 0..<Self.length { end = end.map { $0 + 1 } }
            end.cancel()
            #expect(wasCancelled.value)
            #expect(promise.async.error is CancellationError)
        }
    }

    @Test func `Law 26: a long chain whose promise is released ends with the error of the promise`()
        async
    {
        await offThePool {
            var end = Promise<Int>().async
            for _ in 0..<Self.length { end = end.map { $0 + 1 } }
            #expect(end.error is AsyncError)
        }
    }
}
