import Dispatch
import ExecutionContexts
import ExecutionContextsTesting
import Foundation
import TestSupport
import Testing

/// Threads that may block wait for an `Async` with `wait()` (law 27).
@Suite(.patient)
struct AsyncBlockingTests {
    @Test func `Law 27: a value, an error, a cancellation and a released promise end a wait`() async
    {
        await watched {
            for way in AsyncPromiseTests.Way.allCases {
                let promise = Promise<Int>()
                onThreads([
                    {
                        _ = Result { try promise.async.wait() }
                        #expect(way.isOutcome(of: promise.async))
                    },
                    {
                        waitUntil { promise.async.waitingThreads == 1 }
                        #expect(way.end(promise))
                    },
                ])
            }
            let promise = Box<Promise<Int>?>(Promise())
            guard let async = promise.value?.async else { return }
            onThreads([
                { #expect(throws: AsyncError.self) { try async.wait() } },
                {
                    waitUntil { async.waitingThreads == 1 }
                    promise.value = nil
                },
            ])
        }
    }

    @Test func `Law 27: sixteen threads that wait for one Async get its value`() async {
        await watched {
            for timeout: Duration? in [nil, .seconds(1000), .seconds(Int64.max)] {
                let promise = Promise<Int>()
                let sum = Box(0)
                let waiter: @Sendable () -> Void = {
                    let value = try? promise.async.wait(timeout: timeout)
                    sum.withValue { $0 += value ?? 0 }
                }
                let completer: @Sendable () -> Void = {
                    waitUntil { promise.async.description.contains("and 8 more") }
                    promise.succeed(1)
                }
                onThreads(Array(repeating: waiter, count: 16) + [completer])
                #expect(sum.value == 16)
            }
        }
    }

    @Test func `Law 27: a wait that times out throws and cancels nothing, and may be repeated`()
        async
    {
        await watched {
            let promise = Promise<Int>()
            for _ in 0..<3 {
                let began = ContinuousClock.now
                #expect(throws: AsyncError.timedOut(after: .milliseconds(2))) {
                    try promise.async.wait(timeout: .milliseconds(2))
                }
                #expect(ContinuousClock.now - began >= .milliseconds(2), "early")
                #expect(throws: AsyncError.timedOut(after: .milliseconds(1))) {
                    try promise.async.wait(timeout: .seconds(0.001))
                }
            }
            #expect(!promise.async.isCompleted)
            #expect(promise.async.description.contains("no subscribers"))
            #expect(promise.succeed(1))
            #expect((try? promise.async.wait(timeout: .milliseconds(2))) == 1)
        }
    }

    @Test(arguments: [Duration.zero, .seconds(-1), .nanoseconds(Int64.min)])
    func `Law 27: a wait with a zero or negative limit does not block, on any thread`(
        _ limit: Duration
    )
        throws
    {
        let promise = Promise<Int>()
        #expect(throws: AsyncError.timedOut(after: limit)) {
            try promise.async.wait(timeout: limit)
        }
        #expect(throws: AsyncError.self) { try promise.async.wait(timeout: .seconds(-3.0)) }
        promise.succeed(1)
        #expect(try promise.async.wait(timeout: limit) == 1)
        #expect(try promise.async.wait(timeout: .seconds(Int64.min)) == 1)
    }

    @Test func `Law 27: an infinite time limit is no limit`() async {
        await watched {
            let promise = Promise<Int>()
            onThreads([
                { #expect((try? promise.async.wait(timeout: .seconds(Int64.max))) == 1) },
                { #expect((try? promise.async.wait(timeout: .nanoseconds(Int64.max))) == 1) },
                {
                    waitUntil { promise.async.waitingThreads == 2 }
                    promise.succeed(1)
                },
            ])
        }
    }

    @Test func `Law 24: when a value and a time limit race, one of them wins and no thread hangs`()
        async
    {
        await watched {
            for round in 0..<rounds(debug: 200, release: 2000) {
                let promise = Promise<Int>()
                let value = Box<Int?>(nil)
                onThreads([
                    { value.value = try? promise.async.wait(timeout: .microseconds(round % 100)) },
                    { promise.succeed(1) },
                ])
                #expect(value.value == nil || value.value == 1)
                #expect(promise.async.value == 1)
            }
        }
    }

    @Test func `Law 26: a waiting thread keeps the promise when another subscriber leaves`() async {
        await watched {
            let promise = Promise<Int>()
            onThreads([
                { #expect((try? promise.async.wait()) == 1) },
                {
                    waitUntil { promise.async.waitingThreads == 1 }
                    promise.async.map { $0 }.cancel()
                    #expect(promise.succeed(1))
                },
            ])
        }
    }

    // MARK: - Waits that do not trap

    @Test func `Law 27: every thread may wait for a completed Async`() async throws {
        // On a thread that runs Swift tasks.
        #expect(try blocking { try Async(.success(1)).wait() } == 1)
        #expect(throws: Oops.self) { try blocking { try Async<Int>(error: Oops()).wait() } }
        // On the context that completed it.
        let context = SerialQueueContext(name: "s")
        let submitted = context.submit { 2 }
        #expect(try await submitted.get() == 2)
        #expect(try await context.run { try submitted.wait() } == 2)
        // Inside a callback of the future, and inside a callback of its source.
        let promise = Promise<Int>()
        let mapped = promise.async.map { $0 + 1 }
        let values = Box<[Int]>([])
        promise.async.onComplete { _ in
            if let value = try? promise.async.wait() { values.withValue { $0.append(value) } }
            if let value = try? mapped.wait() { values.withValue { $0.append(value) } }
        }
        promise.succeed(1)
        #expect(values.value == [1, 2])
    }

    @Test func `Law 27: a job of another context may wait for a job of a serial context`() async {
        await watched {
            let serial = SerialQueueContext(name: "s")
            for context: any SynchronousContext in [
                SerialQueueContext(name: "other"), BarrierQueueContext(name: "c"),
            ] {
                let value = context.sync {
                    try? serial.submit { 1 }.map(on: serial) { $0 + 1 }.wait()
                }
                #expect(value == 2)
                let own = context.sync { try? Async(.success(1)).map(on: serial) { $0 + 2 }.wait() }
                #expect(own == 3)
            }
            // Inside a job of the same context, where the context has another free thread.
            let barrier = BarrierQueueContext(name: "b")
            #expect(barrier.sync { try? barrier.submit { 4 }.wait() } == 4)
            #expect(
                (try? GlobalContext().submit { try GlobalContext().submit { 5 }.wait() }.wait())
                    == 5)
        }
    }

    @Test func `Law 27: a job on a serial context may wait for a promise of another thread`() async
    {
        await watched {
            let serial = SerialQueueContext(name: "s")
            let promise = Promise<Int>()
            let value = serial.sync {
                DispatchQueue.global().async { promise.succeed(1) }
                return try? promise.async.map { $0 + 1 }.wait()
            }
            #expect(value == 2)
        }
    }

    @Test
    func
        `Law 27: jobs of a serial context may wait for a future that a function there has returned`()
        async
    {
        await watched {
            let serial = SerialQueueContext(name: "s")
            let returned = Promise<Int>()
            let end = Async(.success(1)).flatMap(on: serial) { _ in returned.async }
            let recovered = Async<Int>(error: Oops()).flatRecover(on: serial) { _ in returned.async
            }
            // This job is queued behind the functions.
            let value = serial.sync {
                DispatchQueue.global().async {
                    waitUntil { end.waitingThreads == 1 }
                    returned.succeed(3)
                }
                return try? end.wait()
            }
            #expect(value == 3)
            #expect((try? recovered.wait()) == 3)
        }
    }

    @Test func `Law 27: a callback may wait for a future whose function runs on another context`()
        async
    {
        await watched {
            let promise = Promise<Int>()
            let context = SerialQueueContext(name: "elsewhere")
            let isWaiting = DispatchSemaphore(value: 0)
            let mapped = promise.async.map(on: context) { value in
                isWaiting.wait()
                return value + 1
            }
            let delayed = promise.async.delay(.microseconds(1), on: context)
            let values = Box<[Int?]>([])
            promise.async.onComplete { _ in
                DispatchQueue.global().async {
                    waitUntil { mapped.waitingThreads == 1 }
                    isWaiting.signal()
                }
                values.withValue { $0.append(try? mapped.wait()) }
                values.withValue { $0.append(try? delayed.wait()) }
            }
            promise.succeed(1)
            #expect(values.value == [2, 1])
        }
    }

    @Test func `Law 27: a job on the context of a retry may wait for a started attempt`() async {
        await watched {
            let serial = SerialQueueContext(name: "s")
            let promise = Promise<Int>()
            let started = DispatchSemaphore(value: 0)
            let retried = Async.retry(attempts: 2, on: serial) { _ in
                started.signal()
                return promise.async
            }
            started.wait()
            let value = serial.sync {
                DispatchQueue.global().async {
                    waitUntil { retried.waitingThreads == 1 }
                    promise.succeed(1)
                }
                return try? retried.wait()
            }
            #expect(value == 1)
        }
    }

    /// Operators with an error function that runs on a context.
    static let handlers: [@Sendable (Async<Int>, SerialQueueContext) -> Async<Int>] = [
        { $0.recover(on: $1) { _ in 0 } },
        { $0.mapError(on: $1) { $0 } },
        { $0.flatRecover(on: $1) { _ in Async(.success(0)) } },
    ]

    @Test(arguments: handlers.indices)
    func `Law 27: a job may wait on the context of an error function that is not needed`(
        _ index: Int
    ) async {
        await watched {
            let serial = SerialQueueContext(name: "ledger")
            let promise = Promise<Int>()
            let handled = Self.handlers[index](promise.async, serial).map { $0 + 1 }
            let value = serial.sync {
                DispatchQueue.global().async {
                    waitUntil { handled.waitingThreads == 1 }
                    promise.succeed(7)
                }
                return try? handled.wait()
            }
            #expect(value == 8)
        }
    }
}
