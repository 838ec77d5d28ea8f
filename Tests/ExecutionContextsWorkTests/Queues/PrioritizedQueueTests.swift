import ExecutionContexts
import ExecutionContextsTesting
import ExecutionContextsWork
import TestSupport
import Testing

/// A queue, step by step, over a manual context and over an immediate one.
@Suite(.patient)
struct PrioritizedQueueTests {
    private let manual = ManualContext()
    private let log = Box<[String]>([])

    private func note(_ what: String) -> @Sendable () -> Void {
        { [log] in log.withValue { $0.append(what) } }
    }

    @Test
    func `Law 32: a free permit goes to the most urgent job, and to the first of one priority`() {
        let queue = PrioritizedQueue(on: manual, limit: 1)
        queue.execute(priority: .lowest, note("was alone"))
        for priority in WorkPriority.allCases {
            queue.execute(priority: priority, note("\(priority) 1"))
            queue.execute(priority: priority, note("\(priority) 2"))
        }
        #expect(queue.pendingCount == 10)
        #expect(queue.runningCount == 1)
        manual.runReady()
        let rest = WorkPriority.allCases.reversed().flatMap { ["\($0) 1", "\($0) 2"] }
        #expect(log.value == ["was alone"] + rest)
        #expect(queue.runningCount == 0)
    }

    @Test func `Law 32: of two priorities set before a permit is free the last one counts`() {
        let queue = PrioritizedQueue(on: manual, limit: 1)
        queue.execute(note("first"))
        let work = queue.submit(note("twice"))
        queue.execute(note("medium"))
        work.priority = .highest
        work.priority = .low
        #expect(work.priority == .low)
        manual.runReady()
        #expect(log.value == ["first", "medium", "twice"])
    }

    @Test
    func `Law 32: a lowered job comes before those of its new priority, a raised one behind them`()
    {
        let queue = PrioritizedQueue(on: manual, limit: 1)
        queue.execute(note("first"))
        let (high, lowest) = (
            queue.submit(priority: .high, note("lowered")),
            queue.submit(priority: .lowest, note("raised"))
        )
        for index in 1...2 { queue.execute(priority: .low, note("low \(index)")) }
        high.priority = .low
        lowest.priority = .low
        manual.runReady()
        #expect(log.value == ["first", "lowered", "low 1", "low 2", "raised"])
    }

    @Test func `Law 32: a job that is set to the priority that it has keeps its position`() {
        let queue = PrioritizedQueue(on: manual, limit: 1)
        queue.execute(note("first"))
        let work = queue.submit(note("second"))
        queue.execute(note("third"))
        work.priority = .medium
        manual.runReady()
        #expect(log.value == ["first", "second", "third"])
    }

    @Test func `Law 32: a priority that is set after the hand-over is kept and changes no order`() {
        let queue = PrioritizedQueue(on: manual, limit: 1)
        let work = queue.submit { 1 }
        work.priority = .lowest
        #expect(work.priority == .lowest)
        manual.runReady()
        work.priority = .highest
        #expect(work.priority == .highest)
        #expect(queue.pendingCount == 0)
    }

    @Test func `Law 32: raising work that runs raises its task too`() async throws {
        guard #available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *) else { return }
        let queue = PrioritizedQueue(on: .global, limit: 1)
        let (begun, raised) = (Promise<Void>(), Promise<TaskPriority>())
        let work = queue.submitTask {
            try await withTaskPriorityEscalationHandler {
                begun.succeed(())
                return try await raised.async.get()
            } onPriorityEscalated: { _, priority in
                raised.succeed(priority)
            }
        }
        try await begun.async.get()
        work.priority = .highest
        #expect(try await work.async.get() >= .high)
    }

    @Test func `Law 32: with a limit of 0 no job starts until the limit is raised`() {
        let queue = PrioritizedQueue(on: manual, limit: 0)
        for index in 1...3 { queue.execute(note("\(index)")) }
        #expect(manual.runReady() == 0)
        queue.limit = 2
        #expect(queue.runningCount == 2)
        #expect(queue.pendingCount == 1)
        queue.limit = 0
        manual.runReady()
        #expect(log.value == ["1", "2"])
        queue.limit = 1
        manual.runReady()
        #expect(log.value == ["1", "2", "3"])
    }

    @Test func `A suspended queue starts no job, and one resume is enough`() {
        let queue = PrioritizedQueue(on: manual, limit: 1)
        queue.execute(note("handed over"))
        queue.suspend()
        queue.suspend()
        #expect(queue.isSuspended)
        queue.execute(note("waits"))
        manual.runReady()
        #expect(log.value == ["handed over"])
        queue.resume()
        manual.runReady()
        #expect(log.value == ["handed over", "waits"])
        queue.resume()
        #expect(!queue.isSuspended)
    }

    @Test func `A body that throws frees its permit, and its Async ends with the error`() throws {
        struct Failure: Error {}
        let queue = PrioritizedQueue(on: manual, limit: 1)
        let failing = queue.submit { throw Failure() }
        let next = queue.submit { 42 }
        manual.runReady()
        #expect(throws: Failure.self) { try failing.async.outcome?.get() }
        #expect(try next.async.outcome?.get() == 42)
        #expect(queue.runningCount == 0)
    }

    @Test func `Law 5: a queue over an immediate context does not nest its queued jobs`() {
        let queue = PrioritizedQueue(on: .immediate, limit: 1)
        let count = Box(0)
        queue.suspend()
        for _ in 0..<100_000 { queue.execute { count.withValue { $0 += 1 } } }
        queue.resume()
        #expect(count.value == 100_000)
        #expect(queue.runningCount == 0)
    }

    @Test func `Law 9: a job may submit to its own queue, which runs the new jobs by priority`() {
        let queue = PrioritizedQueue(on: .immediate, limit: 1)
        queue.execute {
            note("outer begins")()
            queue.execute(priority: .low, note("low"))
            queue.execute(priority: .high) {
                note("high")()
                queue.execute(priority: .medium, note("medium"))
            }
            note("outer ends")()
        }
        #expect(log.value == ["outer begins", "outer ends", "high", "medium", "low"])
    }

    @Test func `Law 10: a released queue runs the jobs that it has accepted`() {
        var queue: PrioritizedQueue? = PrioritizedQueue(on: manual, limit: 1)
        for index in 1...3 { queue?.execute(note("\(index)")) }
        queue = nil
        manual.runReady()
        #expect(log.value == ["1", "2", "3"])
    }

    @Test
    func `Law 10: a queue that is released while suspended, with a limit of 0, runs its jobs`() {
        var queue: PrioritizedQueue? = PrioritizedQueue(on: manual, limit: 0)
        queue?.suspend()
        for index in 1...3 { queue?.execute(note("\(index)")) }
        queue = nil
        manual.runReady()
        #expect(log.value == ["1", "2", "3"])
    }

    @Test func `Law 10: after the last job nothing keeps the queue's context alive`() {
        weak var context: ManualContext?
        let work: QueuedWork<Int>
        do {
            let own = ManualContext()
            context = own
            let queue = PrioritizedQueue(on: own, limit: 1)
            work = queue.submit { 1 }
            queue.submit { 2 }.cancel()
            own.runReady()
        }
        _ = consume work
        #expect(context == nil)
    }

    @Test func `Law 32: a hundred thousand queued jobs run in the order of their new priorities`() {
        let queue = PrioritizedQueue(on: manual, limit: 0)
        let order = Box<[Int]>([])
        let count = 100_000
        let works = (0..<count).map { index in
            queue.submit(priority: .low) { order.withValue { $0.append(index) } }
        }
        for index in stride(from: count - 1, through: 0, by: -1) where index % 2 == 0 {
            works[index].priority = .high
        }
        queue.limit = .max
        manual.runReady()
        let expected =
            stride(from: count - 2, through: 0, by: -2).map { $0 }
            + stride(from: 1, to: count, by: 2).map { $0 }
        #expect(order.value == expected)
    }

    @Test func `A negative limit traps with a message`() async throws {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent])
        {
            _ = PrioritizedQueue(on: .immediate, limit: -1, name: "ledger")
        }
        try expectTrap(result, "'ledger'", "-1", "law 32")
        let later = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            PrioritizedQueue(on: .immediate, limit: 1).limit = -2
        }
        try expectTrap(later, "-2", "law 32")
    }
}
