import Dispatch
import ExecutionContexts
import ExecutionContextsTesting
import Synchronization
import TestSupport
import Testing

/// Async calls begin on their caller: calls of one actor keep their order, and awaiting a completed
/// future does not suspend.
@Suite(.patient)
struct CallerOrderTests {
    /// An async call whose body logs its number.
    enum Call: String, CaseIterable, CustomTestStringConvertible {
        case run, runTask, writeAsync
        var testDescription: String { rawValue }
    }

    /// Logs the order in which calls arrive.
    struct Room: Sendable {
        let log = Box<[Int]>([])
        let serial = SerialQueueContext(name: "order")
        let coordinator = ReadWriteCoordinator(
            name: "order", writesOn: SerialQueueContext(name: "writes"))

        nonisolated(nonsending) func call(_ call: Call, _ number: Int) async throws {
            let note: @Sendable () -> Void = { log.withValue { $0.append(number) } }
            switch call {
            case .run: try await serial.run { note() }
            case .runTask: try await serial.runTask { note() }
            case .writeAsync: try await coordinator.writeAsync { note() }
            }
        }
    }

    static let count = 500

    actor Caller {
        func start(_ room: Room, _ call: Call) -> [Task<Void, any Error>] {
            (0..<count).map { number in
                Task {
                    // The task runs on this actor, whose queue holds the tasks in order.
                    assertIsolated()
                    try await room.call(call, number)
                }
            }
        }
    }

    @MainActor
    static func startOnMain(_ room: Room, _ call: Call) -> [Task<Void, any Error>] {
        (0..<count).map { number in
            Task { @MainActor in try await room.call(call, number) }
        }
    }

    @Test(arguments: Call.allCases, [true, false])
    func `Calls of one actor arrive in the order in which the actor makes them`(
        _ call: Call, _ isMain: Bool
    )
        async throws
    {
        let room = Room()
        let caller = Caller()
        let tasks = isMain ? await Self.startOnMain(room, call) : await caller.start(room, call)
        for task in tasks { try await task.value }
        let log = room.log.value
        let inOrder = zip(log, log.dropFirst()).allSatisfy { $0 < $1 }
        #expect(log.count == Self.count)
        #expect(inOrder, "\(log.prefix(50))")
    }

    // MARK: - Before a call is made

    /// Calls that wait until the test ends the wait, so that it can see that they have arrived.
    enum Waiting: String, CaseIterable, CustomTestStringConvertible {
        case run, runTask, get, getOrCancel, sleep, writeAsync
        var testDescription: String { rawValue }
    }

    /// Receives the calls, and runs no job until the test says so.
    struct WaitingRoom: Sendable {
        let manual = ManualContext()
        let promise = Promise<Void>()
        let coordinator: ReadWriteCoordinator

        init() { coordinator = ReadWriteCoordinator(name: "order", writesOn: manual) }

        nonisolated(nonsending) func call(_ call: Waiting) async throws {
            switch call {
            case .run: try await manual.run {}
            case .runTask: try await manual.runTask {}
            case .get: try await promise.async.get()
            case .getOrCancel: try await promise.async.getOrCancel()
            case .sleep: try await manual.clock.sleep(until: ContextInstant(nanoseconds: 1_000))
            case .writeAsync: try await coordinator.writeAsync {}
            }
        }

        var hasArrived: Bool { !manual.pending.isEmpty || promise.async.waitingTasks > 0 }
    }

    actor OtherCaller {
        func make(_ call: Waiting, in room: WaitingRoom, _ executor: CountingExecutor) async throws
        {
            executor.jobs.store(0, ordering: .relaxed)
            try await room.call(call)
        }
    }

    @MainActor
    static func make(_ call: Waiting, in room: WaitingRoom, _ executor: CountingExecutor)
        async throws
    {
        executor.jobs.store(0, ordering: .relaxed)
        try await room.call(call)
    }

    @Test(arguments: Waiting.allCases, [true, false])
    func `A task stays on its actor until its call has arrived`(_ call: Waiting, _ isMain: Bool)
        async throws
    {
        let room = WaitingRoom()
        // Runs every job that does not belong to an actor.
        let executor = CountingExecutor()
        executor.jobs.store(.max / 2, ordering: .relaxed)
        let task = Task.detached(executorPreference: executor) {
            if isMain { return try await Self.make(call, in: room, executor) }
            try await OtherCaller().make(call, in: room, executor)
        }
        while !room.hasArrived { await Task.yield() }
        #expect(executor.jobs.load(ordering: .relaxed) == 0)
        room.promise.succeed(())
        room.manual.advance(by: .seconds(1))
        try await task.value
    }

    // MARK: - Completed futures

    @Test @MainActor func `Awaiting a completed future does not suspend the main actor`()
        async throws
    {
        let others = Box(0)
        for _ in 0..<100 {
            let other = Task { @MainActor in others.withValue { $0 += 1 } }
            let before = others.value
            // Outside of the macros, because their closures leave the actor.
            let value = try await Async(.success(1)).get()
            let owned = try await Async(.success(2)).getOrCancel()
            var error: (any Error)?
            do { try await Async<Void>(error: Oops()).get() } catch let thrown { error = thrown }
            #expect(others.value == before)
            #expect((value, owned) == (1, 2))
            #expect(error is Oops)
            await other.value
        }
    }

    @Test func `Awaiting a completed future does not suspend a task on an executor`() async throws {
        let executor = CountingExecutor()
        let task = Task.detached(executorPreference: executor) {
            let before = executor.jobs.load(ordering: .relaxed)
            for _ in 0..<10 { _ = try await Async(.success(1)).get() }
            return executor.jobs.load(ordering: .relaxed) - before
        }
        #expect(try await task.value == 0)
    }
}

/// Counts the task jobs that it runs.
final class CountingExecutor: TaskExecutor {
    let jobs = Atomic<Int>(0)

    func enqueue(_ job: consuming ExecutorJob) {
        jobs.wrappingAdd(1, ordering: .relaxed)
        let job = UnownedJob(job)
        DispatchQueue.global().async {
            unsafe job.runSynchronously(on: self.asUnownedTaskExecutor())
        }
    }
}
