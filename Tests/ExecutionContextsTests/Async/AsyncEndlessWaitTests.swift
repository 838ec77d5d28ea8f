import Dispatch
import ExecutionContexts
import ExecutionContextsTesting
import TestSupport
import Testing

/// A wait that its own thread keeps from ending is reported, and goes on (law 27).
@Suite(.patient)
struct AsyncEndlessWaitTests {
    private func expectReport(_ result: ExitTest.Result?, _ part: String) throws {
        try expectTrap(
            result, "AsyncEndlessWaitTests.swift", "wait() has waited", "(law 27)", "Waited for:",
            part)
    }

    @Test
    func `Law 27: wait is reported for a job of the serial context that the caller keeps busy`()
        async throws
    {
        let result = await #expect(processExitsWith: .success, observing: [\.standardErrorContent])
        {
            exitWhenReported("Waited for: ") {
                let context = SerialQueueContext(name: "ledger")
                _ = context.sync { try? context.submit { 1 }.map { $0 }.wait() }
            }
        }
        try expectReport(result, "submitted to 'ledger', which the caller keeps busy")
    }

    @Test func `Law 27: a job that waits for its own future is reported`() async throws {
        let result = await #expect(processExitsWith: .success, observing: [\.standardErrorContent])
        {
            exitWhenReported("Waited for: ") {
                let context = GlobalContext().serial(named: "ledger")
                let future = Box<Async<Int>?>(nil)
                let isKept = DispatchSemaphore(value: 0)
                future.value = context.submit {
                    isKept.wait()
                    return try future.value?.wait() ?? 0
                }
                isKept.signal()
            }
        }
        try expectReport(result, "'ledger'")
    }

    @Test
    func `Law 27: wait is reported for a map on the serial context that the caller keeps busy`()
        async throws
    {
        let result = await #expect(processExitsWith: .success, observing: [\.standardErrorContent])
        {
            exitWhenReported("Waited for: ") {
                let context = SerialQueueContext(name: "ledger").named("book")
                let promise = Promise<Int>()
                context.execute {
                    promise.succeed(1)
                    _ = try? promise.async.map(on: context) { $0 }.zip(Async(.success(1))).wait()
                }
            }
        }
        try expectReport(result, "its map must run on 'book', which the caller keeps busy")
    }

    @Test
    func `Law 27: wait is reported for a recover on the caller's context once there is an error`()
        async throws
    {
        let result = await #expect(processExitsWith: .success, observing: [\.standardErrorContent])
        {
            exitWhenReported("Waited for: ") {
                let context = SerialQueueContext(name: "ledger")
                let promise = Promise<Int>()
                let recovered = promise.async.recover(on: context) { _ in 0 }
                context.execute {
                    DispatchQueue.global().async { promise.fail(Oops()) }
                    _ = try? recovered.wait()
                }
            }
        }
        try expectReport(result, "its recover must run on 'ledger', which the caller keeps busy")
    }

    @Test func `Law 27: a map function that waits for its own future is reported`() async throws {
        let result = await #expect(processExitsWith: .success, observing: [\.standardErrorContent])
        {
            exitWhenReported("Waited for: ") {
                let context = SerialQueueContext(name: "ledger")
                let promise = Promise<Int>()
                let mapped = Box<Async<Int>?>(nil)
                mapped.value = promise.async.map(on: context) { value in
                    try mapped.value?.wait() ?? value
                }
                promise.succeed(1)
            }
        }
        try expectReport(result, "its map must run on 'ledger'")
    }

    @Test(arguments: ["delay", "retry", "traverse"])
    func
        `Law 27: wait is reported for an operator on the serial context that the caller keeps busy`(
            _ name: String
        )
        async throws
    {
        let result =
            switch name {
            case "delay":
                await #expect(processExitsWith: .success, observing: [\.standardErrorContent]) {
                    exitWhenReported("Waited for: ") {
                        let context = SerialQueueContext(name: "ledger")
                        _ = context.sync {
                            try? Async(.success(1)).delay(.zero, on: context).wait()
                        }
                    }
                }
            case "retry":
                await #expect(processExitsWith: .success, observing: [\.standardErrorContent]) {
                    exitWhenReported("Waited for: ") {
                        let context = SerialQueueContext(name: "ledger")
                        _ = context.sync {
                            try? Async.retry(attempts: 2, on: context) { _ in Async(.success(1)) }
                                .wait()
                        }
                    }
                }
            default:
                await #expect(processExitsWith: .success, observing: [\.standardErrorContent]) {
                    exitWhenReported("Waited for: ") {
                        let context = SerialQueueContext(name: "ledger")
                        _ = context.sync {
                            try? Async.traverse([1], atMost: 1, on: context) { Async(.success($0)) }
                                .wait()
                        }
                    }
                }
            }
        try expectReport(result, "its \(name) must continue on 'ledger'")
    }

    @Test func `Law 27: a wait on main for a job of main is reported`() async throws {
        let result = await #expect(processExitsWith: .success, observing: [\.standardErrorContent])
        {
            exitWhenReported("Waited for: ") {
                MainContext().execute { _ = try? MainContext().submit { 1 }.wait() }
            }
        }
        try expectReport(result, "submitted to 'main', which the caller keeps busy")
    }

    @Test func `Law 27: a job of a manual context that waits for that context is reported`()
        async throws
    {
        let result = await #expect(processExitsWith: .success, observing: [\.standardErrorContent])
        {
            exitWhenReported("Waited for: ") {
                let context = ManualContext(name: "by hand")
                context.execute { _ = try? Async(.success(1)).map(on: context) { $0 }.wait() }
                context.runReady()
            }
        }
        try expectReport(result, "'by hand'")
    }

    @Test func `Law 27: a callback that waits for a future of its own source is reported`()
        async throws
    {
        let result = await #expect(processExitsWith: .success, observing: [\.standardErrorContent])
        {
            exitWhenReported("Waited for: ") {
                let promise = Promise<Int>()
                promise.async.onComplete { _ in
                    _ = try? promise.async.map { $0 }.map { $0 }.wait()
                }
                promise.succeed(1)
            }
        }
        try expectReport(result, "inside a callback of what it waits for")
    }

    @Test func `Law 27: a callback that waits for a combinator of its own source is reported`()
        async throws
    {
        let result = await #expect(processExitsWith: .success, observing: [\.standardErrorContent])
        {
            exitWhenReported("Waited for: ") {
                let promise = Promise<Int>()
                promise.async.onComplete { _ in
                    _ = try? Async.allSettled([
                        Promise<Int>.undropped(), promise.async.map { $0 },
                    ]).wait()
                }
                promise.succeed(1)
            }
        }
        try expectReport(result, "inside a callback of what it waits for")
    }

    @Test func `Law 27: a wait that blocks a thread which runs Swift tasks is reported`()
        async throws
    {
        let result = await #expect(processExitsWith: .success, observing: [\.standardErrorContent])
        {
            exitWhenReported("Waited for: ") {
                let wait: @Sendable () throws -> Int = {
                    try GlobalContext().submit { 1 }.delay(.seconds(1000), on: .global).wait()
                }
                Task.detached { try wait() }
            }
        }
        try expectReport(result, "blocks a thread that tasks need")
    }

    @Test func `Law 27: a wait for a promise that follows itself in a cycle is reported`()
        async throws
    {
        let result = await #expect(processExitsWith: .success, observing: [\.standardErrorContent])
        {
            exitWhenReported("Waited for: ") {
                let (first, second) = (Promise<Int>(), Promise<Int>())
                first.follow(second.async)
                second.follow(first.async)
                _ = try? first.async.wait()
            }
        }
        try expectReport(result, "it waits for itself")
    }

    @Test func `Law 27: a wait goes on after its report, and another thread ends it by cancelling`()
        async throws
    {
        let result = await #expect(processExitsWith: .success, observing: [\.standardErrorContent])
        {
            let context = SerialQueueContext(name: "ledger")
            let job = Box<Async<Int>?>(nil)
            let end = Promise<Int?>()
            let begin = {
                context.execute {
                    job.value = context.submit { 1 }
                    end.succeed(try? job.value?.recover { _ in 2 }.wait())
                }
            }
            whenReported("Waited for: ", after: begin) { job.value?.cancel() }
            let value = try await end.async.get()
            precondition(value == 2)
        }
        try expectReport(result, "submitted to 'ledger', which the caller keeps busy")
    }
}
