import Dispatch
import ExecutionContexts
import ExecutionContextsTesting
import TestSupport
import Testing

/// A wait that its own thread keeps from ending is reported, and waits on (law 27).
@Suite(.patient)
struct AsyncEndlessWaitTests {
    private static func expect(
        _ async: Async<some Sendable>, waitsFor reason: String,
        sourceLocation: SourceLocation = #_sourceLocation
    ) {
        let found = async.endlessWait ?? "nothing"
        #expect(found.contains(reason), "\(found)", sourceLocation: sourceLocation)
        async.cancel()
    }

    @Test func `Law 27: a job of the serial context that the caller keeps busy is an obstacle`()
        async
    {
        await watched {
            for context: any SerialContext & SynchronousContext in [
                SerialQueueContext(name: "ledger"),
                SerialQueueContext(name: "queue").serial(named: "ledger"),
            ] {
                context.sync {
                    Self.expect(
                        context.submit { 1 }.map { $0 },
                        waitsFor: "submitted to 'ledger', which the caller keeps busy")
                    Self.expect(
                        context.serial(named: "above").submit { 1 },
                        waitsFor: "submitted to 'above', which the caller keeps busy")
                }
            }
        }
    }

    @Test func `Law 27: a function for values on the caller's context is an obstacle for a value`()
        async
    {
        await watched {
            let context = SerialQueueContext(name: "book")
            context.sync {
                let promise = Promise<Int>()
                let mapped = promise.async.map(on: context) { $0 }.zip(Async(.success(1)))
                #expect(mapped.endlessWait == nil, "it may yet fail")
                promise.succeed(1)
                Self.expect(
                    mapped, waitsFor: "its map must run on 'book', which the caller keeps busy")
            }
        }
    }

    @Test func `Law 27: a function for errors on the caller's context is an obstacle for an error`()
        async
    {
        await watched {
            let context = SerialQueueContext(name: "book")
            context.sync {
                let promise = Promise<Int>()
                let recovered = promise.async.recover(on: context) { _ in 0 }
                #expect(recovered.endlessWait == nil, "it may yet succeed")
                promise.fail(Oops())
                Self.expect(recovered, waitsFor: "its recover must run on 'book'")
            }
        }
    }

    @Test func `Law 27: a function that waits for its own future is an obstacle`() async {
        await watched {
            let context = SerialQueueContext(name: "ledger")
            let promise = Promise<Int>()
            let mapped = Box<Async<Int>?>(nil)
            let isChecked = DispatchSemaphore(value: 0)
            mapped.value = promise.async.map(on: context) { value in
                if let mapped = mapped.value {
                    Self.expect(mapped, waitsFor: "its map must run on 'ledger'")
                }
                isChecked.signal()
                return value
            }
            promise.succeed(1)
            isChecked.wait()
        }
    }

    @Test func `Law 27: an operator that must continue on the caller's context is an obstacle`()
        async
    {
        await watched {
            let context = SerialQueueContext(name: "ledger")
            context.sync {
                Self.expect(
                    Async(.success(1)).delay(.zero, on: context),
                    waitsFor: "its delay must continue on 'ledger'")
                Self.expect(
                    Async.retry(attempts: 2, on: context) { _ in Async(.success(1)) },
                    waitsFor: "its retry must continue on 'ledger'")
                Self.expect(
                    Async.traverse([1], atMost: 1, on: context) { Async(.success($0)) },
                    waitsFor: "its traverse must continue on 'ledger'")
            }
        }
    }

    @Test @MainActor func `Law 27: a job of main is an obstacle on main`() {
        Self.expect(
            MainContext().submit { 1 },
            waitsFor: "submitted to 'main', which the caller keeps busy")
    }

    @Test func `Law 27: a job of a manual context is an obstacle inside one`() {
        let context = ManualContext(name: "by hand")
        context.execute {
            Self.expect(Async(.success(1)).map(on: context) { $0 }, waitsFor: "'by hand'")
        }
        context.runReady()
    }

    @Test func `Law 27: a callback is an obstacle for what its own source completes`() {
        let promise = Promise<Int>()
        promise.async.onComplete { _ in
            Self.expect(
                promise.async.map { $0 }.map { $0 },
                waitsFor: "inside a callback of what it waits for")
            Self.expect(
                Async.allSettled([Promise<Int>.undropped(), promise.async.map { $0 }]),
                waitsFor: "inside a callback of what it waits for")
            #expect(
                Async.all([Promise<Int>.undropped(), promise.async.map { $0 }]).endlessWait == nil,
                "the other one may fail")
        }
        promise.succeed(1)
    }

    @Test func `Law 27: promises that follow each other wait for themselves`() {
        let (first, second) = (Promise<Int>(), Promise<Int>())
        first.follow(second.async)
        second.follow(first.async)
        Self.expect(first.async, waitsFor: "it waits for itself")
    }

    // MARK: - The report

    private func expectReport(_ result: ExitTest.Result?, _ part: String) throws {
        try expectTrap(
            result, "AsyncEndlessWaitTests.swift", "wait() has waited", "(law 27)", "Waited for:",
            part)
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
}
