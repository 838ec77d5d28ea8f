import ExecutionContexts
import ExecutionContextsTesting
import TestSupport
import Testing

/// `run`: one answer for each call, whatever the context and the task do.
@Suite(.patient)
struct RunTests {
    private struct Wrong: Error, Equatable {}

    private final class Captured: Sendable {
        private let alive: Box<Int>
        init(_ alive: Box<Int>) {
            self.alive = alive
            alive.withValue { $0 += 1 }
        }
        deinit { alive.withValue { $0 -= 1 } }
        func use() {}
    }

    /// Drops, refuses, runs at once, or passes on each job, as drawn.
    private final class Fickle: ExecutionContext {
        private let rng: Box<SeededRNG>
        private let kept = Box<[Work]>([])
        init(_ seed: UInt64) { rng = Box(SeededRNG(seed: seed)) }

        func execute(_ work: @escaping Work) { execute(work, refused: { _ in }) }

        func execute(
            _ work: consuming @escaping Work,
            refused: consuming @escaping @Sendable (Refusal) -> Void
        ) {
            let work: Work = work
            switch rng.withValue({ Int.random(in: 0..<6, using: &$0) }) {
            case 0: refused(Refusal(.shutDown, by: "fickle"))
            case 1: break
            case 2: work()
            case 3:
                work()
                work()
            case 4: kept.withValue { $0.append(work) }
            default: GlobalContext().execute(work)
            }
        }

        /// Runs half of what was kept, and drops the rest.
        func end() {
            let kept = kept.withValue { all in
                defer { all = [] }
                return all
            }
            for (index, work) in kept.enumerated() where index % 2 == 0 { work() }
        }
    }

    @Test(arguments: 0..<100)
    func `Laws 1, 10, 13: a drawn run has one outcome, and a body that failed has not run`(
        _ seed: UInt64
    ) async throws {
        var rng = SeededRNG(seed: seed)
        let context = Fickle(seed)
        let (alive, runs) = (Box(0), Box<[Int]>([]))
        let calls = (0..<40).map { number in
            let throwsError = Int.random(in: 0..<4, using: &rng) == 0
            let captured = Captured(alive)
            let call = Task {
                try await context.run { () -> Int? in
                    captured.use()
                    runs.withValue { $0.append(number) }
                    if throwsError { throw Wrong() }
                    return number % 2 == 0 ? number : nil
                }
            }
            if Int.random(in: 0..<4, using: &rng) == 0 { call.cancel() }
            return (call, throwsError)
        }
        // Until nothing is kept that a call waits for.
        let ending = Task {
            while !Task.isCancelled {
                context.end()
                await Task.yield()
            }
        }
        for (number, (call, throwsError)) in calls.enumerated() {
            let hasRun: Bool
            switch await call.result {
            case .success(let value):
                #expect(value == (number % 2 == 0 ? number : nil))
                #expect(!throwsError)
                hasRun = true
            case .failure(is Wrong):
                #expect(throwsError)
                hasRun = true
            case .failure(is CancellationError), .failure(is Refusal): hasRun = false
            case .failure(let error):
                Issue.record(error)
                continue
            }
            #expect(runs.value.count { $0 == number } == (hasRun ? 1 : 0))
        }
        ending.cancel()
        await ending.value
        #expect(alive.value <= 40)
    }

    @Test func `Law 10: the captures of a body are freed before its caller goes on`() async throws {
        let alive = Box(0)
        func run(on context: some ExecutionContext) async throws {
            try await context.run { [captured = Captured(alive)] in captured.use() }
            #expect(alive.value == 0)
        }
        try await run(on: .immediate)
        try await run(on: .global)
        try await run(on: GlobalContext().serial(named: "serial"))
    }

    @Test func `Law 10: cancelling frees the captures of a body that waits`() async throws {
        let (context, alive) = (ManualContext(), Box(0))
        let call = startedTask {
            try await context.run { [captured = Captured(alive)] in captured.use() }
        }
        #expect(alive.value == 1)
        call.cancel()
        await #expect(throws: CancellationError.self) { try await call.value }
        #expect(alive.value == 0)
        #expect(context.pending.count == 1)
    }

    @Test func `Law 13: a body that cancels its own task ends normally`() async throws {
        let task = Task {
            try await ImmediateContext().run {
                unsafe withUnsafeCurrentTask { unsafe $0?.cancel() }
                return 7
            }
        }
        #expect(try await task.value == 7)
    }

    @Test func `Law 13: a task that is cancelled submits nothing`() async throws {
        let context = ManualContext()
        let task = Task {
            unsafe withUnsafeCurrentTask { unsafe $0?.cancel() }
            try await context.run {}
        }
        await #expect(throws: CancellationError.self) { try await task.value }
        #expect(context.pending.isEmpty)
    }

    @Test(.tasksAreSimulated)
    func `Law 13: a cancellation and a job at once: one of both`() async {
        let report = await search("run and cancel", schedules: 400) { _ in
            let hasRun = Box(false)
            let context = GlobalContext().serial(named: "serial")
            let call = Task { try await context.run { hasRun.value = true } }
            let canceller = Task { call.cancel() }
            await canceller.value
            switch await call.result {
            case .success: if !hasRun.value { throw Wrong() }
            case .failure: if hasRun.value { throw Wrong() }
            }
        }
        #expect(report.failure == nil, "\(report)")
    }

    @Test func `Law 13: a context that cancels the task and runs the job then runs no body`() async
    {
        let hasRun = Box(false)
        // The task has no handler of its cancellation while its context takes the job.
        let context = ClosureContext(name: "cancels first") { work in
            unsafe withUnsafeCurrentTask { unsafe $0?.cancel() }
            work()
        }
        let call = Task { try await context.run { hasRun.value = true } }
        await #expect(throws: CancellationError.self) { try await call.value }
        #expect(!hasRun.value)
    }

    @Test(arguments: 0..<200)
    func `Law 13: a job that starts after its task was cancelled runs no body`(_ seed: Int) async {
        let (context, hasRun) = (ManualContext(), Box(false))
        let call = Task.detached { try await context.run { hasRun.value = true } }
        // The job is there before the task is suspended, and the task may be anywhere in between.
        while context.pending.isEmpty { await Task.yield() }
        call.cancel()
        context.runReady()
        await #expect(throws: CancellationError.self) { try await call.value }
        #expect(!hasRun.value)
    }
}
