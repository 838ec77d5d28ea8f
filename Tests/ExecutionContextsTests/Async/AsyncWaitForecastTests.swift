import Dispatch
import ExecutionContexts
import ExecutionContextsTesting
import TestSupport
import Testing

/// What a thread that waits for a future says about its wait: never that it cannot end, if it may
/// (law 27).
@Suite(.patient)
struct AsyncWaitForecastTests {
    /// Runs `body` in a job of the context that its futures need.
    private static func inJob(_ body: @escaping @Sendable (SerialQueueContext) -> Void) async {
        await watched {
            let context = SerialQueueContext(name: "busy")
            context.sync { body(context) }
        }
    }

    @Test func `Law 27: a limit ends a wait for a job that the caller keeps from running`() async {
        await Self.inJob { busy in
            let other = SerialQueueContext(name: "other")
            let job = busy.submit { 1 }
            let limited = job.timeout(after: .milliseconds(1), on: other).recover { _ in 2 }
            #expect((try? limited.wait()) == 2)
            #expect(throws: AsyncError.timedOut(after: .milliseconds(1))) {
                try busy.submit { 1 }.wait(timeout: .milliseconds(1))
            }
            let settled = Async.allSettled([
                busy.submit { 1 }.timeout(after: .milliseconds(1), on: other)
            ])
            #expect((try? settled.wait().count) == 1)
        }
    }

    @Test func `Law 27: a budget ends a wait for a retry on the caller's context`() async {
        await Self.inJob { busy in
            let other = SerialQueueContext(name: "other")
            let retried = Async<Int>.retry(
                attempts: 3, within: .milliseconds(1), on: other
            ) { _ in busy.submit { 1 } }
            #expect(throws: AsyncError.self) { try retried.wait() }
        }
    }

    @Test func `Law 27: a lazy future that another thread has begun on the caller's context ends`()
        async
    {
        await watched {
            let busy = SerialQueueContext(name: "busy")
            let promise = Promise<Int>()
            let lazy = Async.lazy(on: busy) { promise.async }
            lazy.onComplete { _ in }
            busy.sync {}
            let value = busy.sync {
                DispatchQueue.global().async {
                    waitUntil { lazy.waitingThreads == 1 }
                    promise.succeed(1)
                }
                return try? lazy.wait()
            }
            #expect(value == 1)
        }
    }

    @Test func `Law 27: another thread ends a wait by cancelling what is waited for`() async {
        await Self.inJob { busy in
            let job = busy.submit { 1 }
            let recovered = job.recover { _ in 2 }
            DispatchQueue.global().async {
                waitUntil { recovered.waitingThreads == 1 }
                job.cancel()
            }
            #expect((try? recovered.wait()) == 2)
        }
    }

    @Test func `Law 27: an error ends a wait for a function for values on the caller's context`()
        async
    {
        await Self.inJob { busy in
            let promise = Promise<Int>()
            let mapped = promise.async.map(on: busy) { $0 }
            DispatchQueue.global().async {
                waitUntil { mapped.waitingThreads == 1 }
                promise.fail(Oops())
            }
            #expect(throws: Oops.self) { try mapped.wait() }
            let other = Promise<Int>()
            let all = Async.all([busy.submit { 1 }, other.async])
            DispatchQueue.global().async {
                waitUntil { all.waitingThreads == 1 }
                other.fail(Oops())
            }
            #expect(throws: Oops.self) { try all.wait() }
        }
    }

    @Test func `Law 27: a budget ends a wait for the shutdown of the caller's context`() async {
        await watched {
            let context = EndingSerialContext(on: .global, named: "ending")
            let isRunning = Box<Bool?>(nil)
            let isDone = DispatchSemaphore(value: 0)
            context.execute {
                let report = try? context.shutDown(within: .milliseconds(1)).wait()
                isRunning.value = report?.isRunning
                isDone.signal()
            }
            isDone.wait()
            #expect(isRunning.value == true)
        }
    }

    @Test func `Law 27: a thread that runs Swift tasks waits, too`() async throws {
        let values = try blocking {
            try (0..<50).map { number in try GlobalContext().submit { number }.wait() }
        }
        #expect(values == Array(0..<50))
    }
}
