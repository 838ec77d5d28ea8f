import ExecutionContexts
import ExecutionContextsTesting
import TestSupport
import Testing

/// What a deadline does to the jobs, time limits and retries inside of it.
@Suite(.patient)
struct DeadlineTests {
    private let context = ManualContext(name: "screen")

    private func isRefused(_ async: Async<some Sendable>, by name: String) -> Bool {
        guard case .failure(let error as Refusal)? = async.outcome else { return false }
        return error.reason == .deadlinePassed && error.context == name
            && error.sourceLocation?.contains("DeadlineTests.swift") == true
    }

    @Test(arguments: [0, 1, 2, 3])
    func `Law 38: a job that would begin after its deadline is refused, and never runs`(
        _ seconds: Int
    ) {
        let ran = Box(false)
        let job = withDeadline(in: .seconds(2), on: context) {
            context.submit { ran.value = true }
        }
        let other = context.submit {}
        // The manual context runs nothing while only its time goes on.
        context.schedule(after: .seconds(seconds)) {}
        context.stall(for: .seconds(seconds))
        context.runReady()
        #expect(ran.value == (seconds < 2))
        #expect(isRefused(job, by: "screen") == (seconds >= 2))
        #expect(other.isCompleted)
        #expect((try? other.outcome?.get()) != nil)
    }

    @Test func `Law 38: the refusal says what happened`() throws {
        let job = withDeadline(in: .zero, on: context) { context.submit {} }
        context.runReady()
        #expect(throws: Refusal.self) { try job.outcome?.get() }
        #expect("\(try #require(job.outcome))".contains("its deadline passed before it began"))
    }

    @Test func `Law 38: a job sees the deadline of its submitter, and passes it on`() {
        let seen = Box<[Duration?]>([])
        let inner = Box<Async<Void>?>(nil)
        withDeadline(in: .seconds(2), on: context) {
            _ = context.submit { [context] in
                seen.withValue { $0.append(Deadline.current?.remaining) }
                inner.value = context.submit {}
                context.stall(for: .seconds(5))
            }
        }
        #expect(Deadline.current == nil)
        context.runReady()
        #expect(seen.value == [.seconds(2)])
        #expect(inner.value.map { isRefused($0, by: "screen") } == true)
    }

    @Test func `Law 38: the earlier of two deadlines counts`() {
        withDeadline(in: .seconds(2), on: context) {
            let outer = Deadline.current
            withDeadline(in: .seconds(5), on: context) { #expect(Deadline.current === outer) }
            withDeadline(in: .seconds(1), on: context) {
                #expect(Deadline.current?.remaining == .seconds(1))
            }
            #expect(Deadline.current === outer)
        }
    }

    @Test func `Law 38: a time limit is shortened to the deadline`() {
        let promise = Promise<Int>()
        let limited = withDeadline(in: .seconds(2), on: context) {
            promise.async.timeout(after: .seconds(10), on: context)
        }
        context.advance(by: .seconds(2))
        #expect(throws: AsyncError.timedOut(after: .seconds(2))) { try limited.outcome?.get() }
    }

    @Test func `Law 38: a job that a newer one drops does not get the newer one's deadline`() throws
    {
        let seen = Box<[Duration?]>([])
        let view = context.bounded(
            to: 1,
            overflow: .dropOldest { _ in seen.withValue { $0.append(Deadline.current?.remaining) } }
        )
        // What a job's captures do as they are freed is not done for the submitter of another one.
        final class Freed: Sendable {
            let seen: Box<[Duration?]>
            init(_ seen: Box<[Duration?]>) { self.seen = seen }
            deinit { seen.withValue { $0.append(Deadline.current?.remaining) } }
        }
        view.execute { [freed = Freed(seen)] in _ = freed }
        try withDeadline(in: .seconds(2), on: context) { try view.tryExecute {} }
        #expect(seen.value == [nil, nil])
    }

    @Test(arguments: [false, true])
    func `Law 38: a full or refusing view refuses a late job at once`(drops: Bool) throws {
        let view = context.bounded(
            to: 5, overflow: drops ? .dropOldest(notify: { _ in }) : .refuse)
        let ran = Box(0)
        try withDeadline(in: .seconds(1), on: context) {
            try view.tryExecute { ran.withValue { $0 += 1 } }
            context.advance(by: .seconds(1))
            #expect(throws: Refusal.self) { try view.tryExecute { ran.withValue { $0 += 1 } } }
        }
        try view.tryExecute { ran.withValue { $0 += 1 } }
        context.runReady()
        #expect(ran.value == 2)
    }

    @Test func `Law 38: a job without a result sees it through a view that carries it`() {
        let seen = Box<Duration?>(nil)
        withDeadline(in: .seconds(2), on: context) {
            context.propagating(Deadline.taskLocal).execute {
                seen.value = Deadline.current?.remaining
            }
        }
        context.runReady()
        #expect(seen.value == .seconds(2))
    }

    @Test func `Law 38: a retry makes no attempt that the deadline would not let begin`() {
        struct Busy: Error {}
        let attempts = Box<[Duration?]>([])
        let retry = withDeadline(in: .seconds(5), on: context) {
            Async<Int>.retry(attempts: 9, backoff: .constant(.seconds(2)), on: context) { _ in
                attempts.withValue { $0.append(Deadline.current?.remaining) }
                throw Busy()
            }
        }
        context.advance(by: .seconds(60))
        #expect(attempts.value == [.seconds(5), .seconds(3), .seconds(1)])
        #expect(throws: Busy.self) { try retry.outcome?.get() }
    }

    // MARK: - Async code

    @Test func `Law 38: a body that takes too long is cancelled, and the caller told`() async {
        let (context, isCancelled) = (context, Box(false))
        let task = startedTask {
            try await withDeadline(in: .seconds(2), on: context) {
                do { try await context.clock.sleep(for: .seconds(600)) } catch {
                    isCancelled.value = true
                    throw error
                }
            }
        }
        while context.delayedCount < 2 { await Task.yield() }
        context.advance(by: .seconds(2))
        await #expect(throws: AsyncError.timedOut(after: .seconds(2))) { try await task.value }
        while !isCancelled.value { await Task.yield() }
        #expect(context.delayedCount == 0)
    }

    @Test func `Law 38: a body that ends in time returns its value, and leaves no delay`()
        async throws
    {
        let value = try await withDeadline(in: .seconds(2), on: context) { [context] in
            #expect(Deadline.current?.remaining == .seconds(2))
            async let child = Deadline.current?.remaining
            #expect(await child == .seconds(2))
            _ = context
            return 7
        }
        #expect(value == 7)
        #expect(context.delayedCount == 0)
    }

    @Test func `Law 38: a deadline that has passed begins nothing`() async {
        let ran = Box(false)
        await #expect(throws: AsyncError.timedOut(after: .zero)) {
            try await withDeadline(in: .zero, on: context) {
                await Task.yield()
                ran.value = true
            }
        }
        #expect(!ran.value)
    }

    @Test func `Law 38: cancelling the caller cancels the body`() async {
        let context = context
        let task = startedTask {
            try await withDeadline(in: .seconds(2), on: context) {
                try await context.clock.sleep(for: .seconds(600))
            }
        }
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
        #expect(context.delayedCount == 0)
    }

    @Test func `Law 38: run and runTask are refused after the deadline`() async throws {
        let context = SerialQueueContext(name: "database")
        let manual = ManualContext()
        let task = withDeadline(in: .seconds(1), on: manual) {
            manual.advance(by: .seconds(1))
            return Task {
                await #expect(throws: Refusal.self) { try await context.run {} }
                await #expect(throws: Refusal.self) { try await context.runTask {} }
                await #expect(throws: Refusal.self) { try await context.submitTask {}.get() }
            }
        }
        await task.value
        try await context.run {}
    }

    @Test func `Law 38: the caller is told in time, though its context is busy with the body`()
        async throws
    {
        let context = SerialQueueContext(name: "database")
        let door = Promise<Void>()
        await #expect(throws: AsyncError.self) {
            try await withDeadline(in: .milliseconds(20), on: context) {
                try await context.run { try door.async.wait() }
            }
        }
        #expect(!door.async.isCompleted)
        door.succeed()
        try await context.run {}
    }

    @Test func `Law 38: of deadlines in different times, both hold`() {
        let (one, other) = (ManualContext(name: "one"), ManualContext(name: "other"))
        let jobs = withDeadline(in: .seconds(5), on: one) {
            withDeadline(in: .seconds(1), on: other) { [one.submit {}, other.submit {}] }
        }
        one.stall(for: .seconds(5))
        one.runReady()
        other.runReady()
        #expect(isRefused(jobs[0], by: "one") && isRefused(jobs[1], by: "other"))
        let later = withDeadline(in: .seconds(5), on: one) {
            withDeadline(in: .seconds(1), on: other) { one.submit {} }
        }
        other.advance(by: .seconds(1))
        one.runReady()
        #expect(isRefused(later, by: "one"))
    }

    @Test func `Law 38: an async body in another time ends with the outer deadline`() async {
        let (one, other) = (ManualContext(name: "one"), ManualContext(name: "other"))
        let task = Task {
            try await withDeadline(in: .seconds(1), on: one) {
                try await withDeadline(in: .seconds(9), on: other) {
                    try await other.clock.sleep(for: .seconds(600))
                }
            }
        }
        while one.delayedCount < 2 || other.delayedCount < 2 { await Task.yield() }
        one.advance(by: .seconds(1))
        await #expect(throws: AsyncError.self) { try await task.value }
    }

    @Test func `Law 38: of an async body's deadlines each ends it by its own time`() async {
        let (one, other) = (ManualContext(name: "one"), ManualContext(name: "other"))
        let task = Task {
            try await withDeadline(in: .seconds(5), on: one) {
                try await withDeadline(in: .seconds(100), on: other) {
                    try await withDeadline(in: .seconds(10), on: one) {
                        try await other.clock.sleep(for: .seconds(600))
                    }
                }
            }
        }
        while one.delayedCount < 3 || other.delayedCount < 3 { await Task.yield() }
        // No limit of that time is shorter than 100 s.
        other.advance(by: .seconds(50))
        #expect(other.delayedCount == 3)
        one.advance(by: .seconds(5))
        await #expect(throws: AsyncError.timedOut(after: .seconds(5))) { try await task.value }
    }

    @Test func `Law 38: a job without a deadline does not get that of the thread that runs it`() {
        let seen = Box<[Bool]>([])
        withDeadline(in: .seconds(1), on: context) {}
        let inner = Box<Async<Void>?>(nil)
        _ = context.submit { [context] in
            seen.withValue { $0.append(Deadline.current == nil) }
            inner.value = context.submit {}
        }
        withDeadline(in: .zero, on: context) { _ = context.runReady() }
        #expect(seen.value == [true])
        #expect((try? inner.value?.outcome?.get()) != nil)
    }

    @Test(arguments: seeds(debug: 20, release: 200))
    func
        `Law 38: of nested deadlines in several times the earliest of each time counts, and is kept`(
            seed: UInt64
        )
    {
        var random = SeededRNG(seed: seed)
        let contexts = (0..<3).map { ManualContext(name: "context \($0)") }
        var earliest: [Int: Int] = [:]
        func nest(_ depth: Int) {
            guard depth > 0 else { return }
            let (index, seconds) = (random.next(below: 3), 1 + random.next(below: 1_000))
            let outer = earliest
            earliest[index] = min(earliest[index] ?? .max, seconds)
            withDeadline(in: .seconds(seconds), on: contexts[index]) {
                #expect(Deadline.current?.remaining == .seconds(earliest.values.min()!))
                #expect(Deadline.current?.limits.count == earliest.count)
                nest(depth - 1)
            }
            earliest = outer
        }
        nest(60)
        #expect(Deadline.current == nil)
    }
}
