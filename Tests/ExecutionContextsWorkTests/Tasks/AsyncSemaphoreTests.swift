import ExecutionContexts
import ExecutionContextsTesting
import ExecutionContextsWork
import TestSupport
import Testing

/// Semaphores and locks of tasks: which task enters, in which order, and which one leaves.
@Suite(.patient)
struct AsyncSemaphoreTests {
    private struct Wrong: Error, Equatable {}

    /// Tasks that enter a semaphore one after the other, and note their names inside.
    private struct Line {
        let semaphore = AsyncSemaphore(permits: 1, name: "door")
        let entered = Box<[String]>([])
        let door = Channel<Void>()

        /// Takes the permit until `open` is called.
        func hold() -> Task<Void, any Error> {
            startedTask { [semaphore, door] in
                try await semaphore.withPermit { _ = try await door.receive() }
            }
        }

        func open() throws { try door.trySend(()) }

        func enter(
            _ name: String, priority: TaskPriority = .medium
        ) -> Task<Void, any Error> {
            startedTask(priority: priority) { [semaphore, entered] in
                try await semaphore.withPermit { entered.withValue { $0.append(name) } }
            }
        }
    }

    @Test(.alsoSimulated) func `Law 35: equal tasks enter in the order in which they came`()
        async throws
    {
        let line = Line()
        let holder = line.hold()
        let tasks = (0..<20).map { line.enter("\($0)") }
        #expect(line.semaphore.waitingCount == 20)
        #expect(
            "\(line.semaphore)" == "'door', 1 of 1 permits taken, 20 tasks wait")
        try line.open()
        for task in tasks + [holder] { try await task.value }
        #expect(line.entered.value == (0..<20).map { "\($0)" })
        #expect(line.semaphore.availableCount == 1)
    }

    @Test func `Law 35: the most urgent task enters first`() async throws {
        let line = Line()
        let holder = line.hold()
        let tasks = [
            line.enter("low", priority: .low), line.enter("medium"),
            line.enter("high", priority: .high), line.enter("medium 2"),
            line.enter("background", priority: .background),
            line.enter("high 2", priority: .high),
        ]
        try line.open()
        for task in tasks + [holder] { try await task.value }
        #expect(
            line.entered.value == ["high", "high 2", "medium", "medium 2", "low", "background"])
    }

    @Test func `Law 35: a task whose priority is raised moves behind those that have it`()
        async throws
    {
        guard #available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *) else { return }
        let line = Line()
        let holder = line.hold()
        let low = line.enter("raised", priority: .low)
        let tasks = [
            line.enter("low", priority: .low), line.enter("medium"),
            line.enter("high", priority: .high),
        ]
        low.escalatePriority(to: .high)
        try line.open()
        for task in tasks + [low, holder] { try await task.value }
        #expect(line.entered.value == ["high", "raised", "medium", "low"])
    }

    @Test func `Law 35: a task of low priority waits for at most fifteen more urgent ones`()
        async throws
    {
        let line = Line()
        let holder = line.hold()
        let patient = line.enter("patient", priority: .background)
        let tasks = (0..<40).map { line.enter("\($0)", priority: .high) }
        try line.open()
        for task in tasks + [patient, holder] { try await task.value }
        let position = try #require(line.entered.value.firstIndex(of: "patient"))
        #expect(position <= 15)
    }

    @Test(.alsoSimulated)
    func `Law 35: a task that is cancelled while it waits leaves, and its body never runs`()
        async throws
    {
        let line = Line()
        let holder = line.hold()
        let tasks = (0..<5).map { line.enter("\($0)") }
        tasks[0].cancel()
        tasks[3].cancel()
        #expect(line.semaphore.waitingCount == 3)
        await #expect(throws: CancellationError.self) { try await tasks[0].value }
        try line.open()
        for task in [tasks[1], tasks[2], tasks[4], holder] { try await task.value }
        #expect(line.entered.value == ["1", "2", "4"])
        #expect(line.semaphore.availableCount == 1)
    }

    @Test func `Law 35: a task that is cancelled already does not enter`() async throws {
        let semaphore = AsyncSemaphore(permits: 1)
        let entered = Box(false)
        let cancelled = Task {
            unsafe withUnsafeCurrentTask { unsafe $0?.cancel() }
            try await semaphore.withPermit { entered.value = true }
        }
        await #expect(throws: CancellationError.self) { try await cancelled.value }
        #expect(!entered.value)
        #expect(semaphore.availableCount == 1)
    }

    @Test func `Law 35: a body that throws returns its permit`() async throws {
        let semaphore = AsyncSemaphore(permits: 2)
        for _ in 0..<5 {
            await #expect(throws: Wrong()) { try await semaphore.withPermit { throw Wrong() } }
        }
        #expect(semaphore.availableCount == 2)
    }

    @Test(.alsoSimulated) func `Law 35: a task that tries overtakes no task that waits`()
        async throws
    {
        let line = Line()
        let holder = line.hold()
        let waiter = line.enter("waiter")
        #expect(await line.semaphore.withPermitIfAvailable { 7 } == nil)
        try line.open()
        try await holder.value
        try await waiter.value
        #expect(await line.semaphore.withPermitIfAvailable { 7 } == 7)
        #expect(line.semaphore.availableCount == 1)
    }

    @Test(.alsoSimulated) func `The body runs on the caller's actor, and may use what it has`()
        async throws
    {
        @MainActor final class Screen {
            var lines: [String] = []
            let lock = AsyncLock()
            func show(_ text: String) async throws {
                try await lock.withLock {
                    lines.append("begin \(text)")
                    await Task.yield()
                    lines.append("end \(text)")
                }
            }
        }
        let screen = Screen()
        async let one: Void = screen.show("1")
        async let two: Void = screen.show("2")
        _ = try await (one, two)
        let lines = await screen.lines
        #expect(lines.count == 4)
        #expect(lines[0].hasPrefix("begin") && lines[1].hasPrefix("end"))
        #expect(lines[0].last == lines[1].last)
    }

    @Test func `A lock says whether a task is inside`() async throws {
        let lock = AsyncLock(name: "cache")
        #expect(!lock.isLocked)
        try await lock.withLock {
            #expect(lock.isLocked)
            #expect(await lock.withLockIfAvailable {} == nil)
        }
        #expect("\(lock)" == "'cache', 0 of 1 permits taken, 0 tasks wait")
    }

    @Test func `Law 35: very many waiting tasks that are cancelled leave nothing behind`()
        async throws
    {
        let line = Line()
        let holder = line.hold()
        let last = line.enter("last", priority: .low)
        for _ in 0..<rounds(debug: 20, release: 100) {
            let tasks = (0..<1_000).map { _ in line.enter("never") }
            for task in tasks { task.cancel() }
            #expect(line.semaphore.waitingCount == 1)
        }
        try line.open()
        try await holder.value
        try await last.value
        #expect(line.entered.value == ["last"])
    }

    @Test func `Law 35: to ask for one's own lock again traps`() async throws {
        let result = await #expect(
            processExitsWith: .failure, observing: [\.standardErrorContent]
        ) {
            let lock = AsyncLock(name: "cache")
            try await lock.withLock { try await lock.withLock {} }
        }
        try expectTrap(result, "'cache'", "law 35", "without it")
    }

    @Test func `Law 35: a lock of another task's is no trap, whichever task had it before`()
        async throws
    {
        let (outer, inner) = (AsyncLock(), AsyncLock())
        for _ in 0..<50 {
            try await outer.withLock { try await inner.withLock { await Task.yield() } }
            let task = Task { try await outer.withLock { await Task.yield() } }
            try await outer.withLock {}
            try await task.value
        }
    }

    #if compiler(>=6.3)
    @Test(arguments: [0, -1])
    func `Law 35: a semaphore without a permit traps`(_ permits: Int) async throws {
        let result = await #expect(
            processExitsWith: .failure, observing: [\.standardErrorContent]
        ) { [permits] in
            _ = AsyncSemaphore(permits: permits)
        }
        try expectTrap(result, "\(permits) permits", "law 35")
    }
    #endif
}
