import Dispatch
import ExecutionContexts
import ExecutionContextsTesting
import Foundation
import TestSupport
import Testing

/// Waits that could never end, or are not allowed, trap with a message (law 27).
@Suite(.patient)
struct AsyncRefusedWaitTests {
    private func expectRefusal(_ result: ExitTest.Result?, _ part: String) throws {
        try expectTrap(result, "wait()", "law 27", part)
    }

    @Test func `Law 27: wait traps for a job of the serial context that the caller keeps busy`()
        async throws
    {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent])
        {
            let context = SerialQueueContext(name: "ledger")
            _ = try context.sync { try context.submit { 1 }.map { $0 }.wait() }
        }
        try expectRefusal(result, "submitted to 'ledger', which the caller keeps busy")
        try expectRefusal(result, "AsyncRefusedWaitTests.swift")
    }

    @Test func `Law 27: a job that waits for its own future traps`() async throws {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent])
        {
            let context = GlobalContext().serial(named: "ledger")
            let future = Box<Async<Int>?>(nil)
            let isKept = DispatchSemaphore(value: 0)
            future.value = context.submit {
                isKept.wait()
                return try future.value?.wait() ?? 0
            }
            isKept.signal()
            DispatchSemaphore(value: 0).wait()
        }
        try expectRefusal(result, "'ledger'")
    }

    @Test func `Law 27: wait traps for a map on the serial context that the caller keeps busy`()
        async throws
    {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent])
        {
            let context = SerialQueueContext(name: "ledger").named("book")
            let promise = Promise<Int>()
            context.execute {
                _ = try? promise.async.map(on: context) { $0 }.zip(Async(.success(1))).wait(
                    timeout: Patience.event)
            }
            DispatchSemaphore(value: 0).wait()
        }
        try expectRefusal(result, "its map must run on 'book', which the caller keeps busy")
    }

    @Test func `Law 27: wait traps for a recover on the caller's context once there is an error`()
        async throws
    {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent])
        {
            let context = SerialQueueContext(name: "ledger")
            let promise = Promise<Int>()
            let recovered = promise.async.recover(on: context) { _ in 0 }
            context.execute {
                DispatchQueue.global().async { promise.fail(Oops()) }
                _ = try? recovered.wait(timeout: Patience.event)
            }
            DispatchSemaphore(value: 0).wait()
        }
        try expectRefusal(result, "its recover must run on 'ledger', which the caller keeps busy")
    }

    @Test func `Law 27: a map function that waits for its own future traps`() async throws {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent])
        {
            let context = SerialQueueContext(name: "ledger")
            let promise = Promise<Int>()
            let mapped = Box<Async<Int>?>(nil)
            mapped.value = promise.async.map(on: context) { value in
                try mapped.value?.wait() ?? value
            }
            promise.succeed(1)
            DispatchSemaphore(value: 0).wait()
        }
        try expectRefusal(result, "'ledger'")
    }

    @Test(arguments: ["delay", "retry", "traverse"])
    func `Law 27: wait traps for an operator on the serial context that the caller keeps busy`(
        _ name: String
    )
        async throws
    {
        let result =
            switch name {
            case "delay":
                await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
                    let context = SerialQueueContext(name: "ledger")
                    _ = try context.sync { try Async(.success(1)).delay(.zero, on: context).wait() }
                }
            case "retry":
                await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
                    let context = SerialQueueContext(name: "ledger")
                    _ = try context.sync {
                        try Async.retry(attempts: 2, on: context) { _ in Async(.success(1)) }.wait()
                    }
                }
            default:
                await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
                    let context = SerialQueueContext(name: "ledger")
                    _ = try context.sync {
                        try Async.traverse([1], atMost: 1, on: context) { Async(.success($0)) }
                            .wait()
                    }
                }
            }
        try expectRefusal(result, "its \(name) must continue on 'ledger'")
    }

    @Test func `Law 27: wait on main traps for a job of main`() async throws {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent])
        {
            MainContext().execute { _ = try? MainContext().submit { 1 }.wait() }
            DispatchSemaphore(value: 0).wait()
        }
        try expectRefusal(result, "submitted to 'main', which the caller keeps busy")
    }

    @Test func `Law 27: a job of a manual context that waits for that context traps`() async throws
    {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent])
        {
            let context = ManualContext(name: "by hand")
            context.execute { _ = try? Async(.success(1)).map(on: context) { $0 }.wait() }
            context.runReady()
        }
        try expectRefusal(result, "'by hand'")
    }

    @Test func `Law 27: a callback that waits for a future of its own source traps`() async throws {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent])
        {
            let promise = Promise<Int>()
            promise.async.onComplete { _ in _ = try? promise.async.map { $0 }.map { $0 }.wait() }
            promise.succeed(1)
        }
        try expectRefusal(result, "inside a callback of what it waits for")
    }

    @Test func `Law 27: a callback that waits for a combinator of its own source traps`()
        async throws
    {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent])
        {
            let promise = Promise<Int>()
            promise.async.onComplete { _ in
                _ = try? Async.all([Promise<Int>.undropped(), promise.async.map { $0 }]).wait()
            }
            promise.succeed(1)
        }
        try expectRefusal(result, "inside a callback of what it waits for")
    }

    @Test func `Law 27: wait traps on a thread that runs Swift tasks`() async throws {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent])
        {
            let wait: @Sendable () throws -> Int = {
                try GlobalContext().submit { 1 }.delay(.seconds(1000), on: .global).wait()
            }
            _ = try await Task.detached { try wait() }.value
        }
        try expectRefusal(result, "runs Swift tasks")
    }

    @Test func `Law 27: wait traps for a promise that follows itself in a cycle`() async throws {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent])
        {
            let (first, second) = (Promise<Int>(), Promise<Int>())
            first.follow(second.async)
            second.follow(first.async)
            await offThePool { _ = try? first.async.wait() }
        }
        try expectRefusal(result, "it waits for itself")
    }
}
