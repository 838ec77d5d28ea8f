import Dispatch
import ExecutionContexts
import ExecutionContextsTesting
import TestSupport
import Testing

/// Tasks that await an `Async` with `get()` or `getOrCancel()`.
@Suite(.patient)
struct AsyncAwaitingTests {
    private static let many = rounds(debug: 2_000, release: 10_000)

    /// Starts a task in `get()`, and returns once that task waits.
    private func waiting(_ async: Async<Int>) -> Task<Int, any Error> {
        startedTask { try await async.get() }
    }

    /// Starts a task in `getOrCancel()`, and returns once that task waits.
    private func owning(_ async: Async<Int>) -> Task<Int, any Error> {
        startedTask { try await async.getOrCancel() }
    }

    @Test(.alsoSimulated)
    func `A task gets a value, an error or a cancellation, before or during its wait`()
        async throws
    {
        for startsEarly in [true, false] {
            let promises = (0..<3).map { _ in Promise<Int>() }
            var tasks: [Task<Int, any Error>] = []
            for promise in promises where startsEarly { tasks.append(waiting(promise.async)) }
            promises[0].succeed(1)
            promises[1].fail(Oops())
            promises[2].async.cancel()
            for promise in promises where !startsEarly {
                tasks.append(Task { try await promise.async.get() })
            }
            #expect(try await tasks[0].value == 1)
            await #expect(throws: Oops.self) { try await tasks[1].value }
            await #expect(throws: CancellationError.self) { try await tasks[2].value }
        }
    }

    @Test(.alsoSimulated)
    func
        `Law 26: a task cancelled before getOrCancel does not wait, and cancels an unwanted source`()
        async
    {
        let isCancelled = Promise<Void>()
        let (wanted, unwanted) = (Promise<Int>(), Promise<Int>())
        wanted.async.onComplete { _ in }
        let task = Task {
            // A task that is not cancelled would wait here for ever.
            _ = try? await isCancelled.async.get()
            #expect(Task.isCancelled)
            for promise in [wanted, unwanted] {
                await #expect(throws: CancellationError.self) {
                    try await promise.async.getOrCancel()
                }
            }
            // A completed future needs no wait, so a cancelled task gets its value.
            return try await Async(.success(7)).get()
        }
        task.cancel()
        #expect((try? await task.value) == 7)
        #expect(!wanted.async.isCompleted)
        #expect(unwanted.async.error is CancellationError)
    }

    @Test(.alsoSimulated)
    func `Law 26: a promise outlives the first of two tasks in getOrCancel, not the second one`()
        async throws
    {
        let promise = Promise<Int>()
        let tasks = [owning(promise.async), owning(promise.async)]
        tasks[0].cancel()
        await #expect(throws: CancellationError.self) { try await tasks[0].value }
        #expect(!promise.async.isCompleted)
        promise.succeed(1)
        #expect(try await tasks[1].value == 1)

        let other = Promise<Int>()
        let others = [owning(other.async), owning(other.async)]
        for task in others {
            #expect(!other.async.isCompleted)
            task.cancel()
        }
        #expect(other.async.error is CancellationError)
        for task in others {
            await #expect(throws: CancellationError.self) { try await task.value }
        }
    }

    @Test(.alsoSimulated)
    func `Law 26: a task that is cancelled after the completion gets the value`() async throws {
        let promise = Promise<Int>()
        let task = waiting(promise.async)
        promise.succeed(1)
        task.cancel()
        #expect(try await task.value == 1)
    }

    @Test(.alsoSimulated) func `Law 26: releasing the promise ends the wait of a task`()
        async throws
    {
        let task: Task<Int, any Error>
        do {
            let promise = Promise<Int>()
            task = waiting(promise.async)
        }
        await #expect(throws: AsyncError.self) { try await task.value }
    }

    @Test(.alsoSimulated(2))
    func `Thousands of tasks that wait for one Async get its value`() async throws {
        let promise = Promise<Int>()
        let sum = try await withThrowingTaskGroup(of: Int.self) { group in
            for _ in 0..<Self.many { group.addTask { try await promise.async.get() } }
            // At least one task waits by now, and the others may not have started yet.
            while promise.async.waitingTasks == 0 { await Task.yield() }
            promise.succeed(3)
            return try await group.reduce(0, +)
        }
        #expect(sum == 3 * Self.many)
    }

    @Test(.alsoSimulated(2))
    func `Law 26: the last of thousands of tasks cancelled in getOrCancel cancels the promise`()
        async
    {
        let promise = Promise<Int>()
        let cancellations = Box(0)
        promise.onCancel { cancellations.withValue { $0 += 1 } }
        let count = await withTaskGroup(of: Bool.self) { group in
            for _ in 0..<Self.many {
                group.addTask {
                    do { return try await promise.async.getOrCancel() == 0 } catch {
                        return error is CancellationError
                    }
                }
            }
            while promise.async.waitingTasks == 0 { await Task.yield() }
            group.cancelAll()
            return await group.reduce(into: 0) { if $1 { $0 += 1 } }
        }
        #expect(count == Self.many)
        #expect(promise.async.error is CancellationError)
        #expect(cancellations.value == 1)
    }

    @Test(.alsoSimulated(3))
    func `Law 24: when a value and a cancellation race, one of them wins and no task hangs`()
        async
    {
        var values = 0
        for round in 0..<rounds(debug: 500, release: 5000) {
            let promise = Promise<Int>()
            let waits: @Sendable () async throws -> Int = { try await promise.async.getOrCancel() }
            let task = round % 3 == 0 ? startedTask(waits) : Task(operation: waits)
            let completer = Task { promise.succeed(1) }
            task.cancel()
            let completed = await completer.value
            let value = try? await task.value
            if value != nil { values += 1 }
            // A task has a value only if the promise completed with it.
            #expect(value == nil || completed)
            #expect(promise.async.isCompleted)
            #expect((promise.async.value == 1) == completed)
        }
        _ = values
    }

    @Test func `The Async of an async function ends with its value or its error`() async throws {
        #expect(try await Async { 1 }.get() == 1)
        #expect(try await Async { try await Async { 2 }.get() }.map { $0 + 1 }.get() == 3)
        await #expect(throws: Oops.self) { try await Async<Int> { throw Oops() }.get() }
        let context = SerialQueueContext(name: "tasks")
        let isOnContext = try await context.submitTask {
            let before = context.isCurrent
            await Task.yield()
            return before == true && context.isCurrent == true
        }.get()
        #expect(isOnContext)
        await #expect(throws: Oops.self) { try await context.submitTask { throw Oops() }.get() }
    }

    @Test
    func `Law 1: a task on a context that drops jobs completes with its value`() async throws {
        #expect(try await ClosureContext { _ in }.submitTask { 1 }.get() == 1)
    }

    @Test(arguments: Subject.bases)
    func `Law 1: a submitted job ends with its value or its error, on its context`(
        _ subject: Subject
    ) async {
        await watched {
            let made = subject.make()
            let value = made.context.submit { made.context.isCurrent != false }
            let error = made.context.submit { throw Oops() } as Async<Int>
            made.drive?()
            waitUntil { value.isCompleted && error.isCompleted }
            #expect(value.value == true)
            #expect(error.error is Oops)
        }
    }

    @Test
    func `Law 1: a dropped or refused submission ends with a refusal that has its source location`()
        throws
    {
        let dropped = ClosureContext { _ in }.submit { 1 }
        let view = ManualContext(name: "crowded").bounded(to: 1, overflow: .refuse)
        view.execute {}
        let refused = view.submit { 1 }
        for async in [dropped, refused] {
            let refusal = try #require(async.error as? Refusal)
            #expect(refusal.sourceLocation?.contains("AsyncAwaitingTests.swift") == true)
        }
        #expect((dropped.error as? Refusal)?.reason == .abandoned)
        #expect((refused.error as? Refusal)?.reason == .full(capacity: 1))
    }
}
