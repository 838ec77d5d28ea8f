import ExecutionContextsTesting
import TestSupport
import Testing

/// Executors of the program's own, and crowds of tasks, in plain Swift.
@Suite(.patient)
struct PlainExecutorTests {
    /// Runs its jobs, one after another, in a task of its own.
    private final class TaskDrainedExecutor: SerialExecutor {
        private let state = Box((jobs: [UnownedJob](), isRunning: false))

        func enqueue(_ job: consuming ExecutorJob) {
            let job = UnownedJob(job)
            let begins = state.withValue { state in
                state.jobs.append(job)
                defer { state.isRunning = true }
                return !state.isRunning
            }
            if begins { Task.detached { self.drain() } }
        }

        private func drain() {
            while let job = next() { unsafe job.runSynchronously(on: asUnownedSerialExecutor()) }
        }

        private func next() -> UnownedJob? {
            state.withValue { state in
                if state.jobs.isEmpty { state.isRunning = false }
                return state.jobs.isEmpty ? nil : state.jobs.removeFirst()
            }
        }
    }

    private actor Counter {
        private let executor: TaskDrainedExecutor
        private(set) var count = 0

        init(on executor: TaskDrainedExecutor) { self.executor = executor }
        // The actor keeps its executor, and is kept by each of its jobs.
        nonisolated var unownedExecutor: UnownedSerialExecutor {
            unsafe executor.asUnownedSerialExecutor()
        }

        func add() { count += 1 }
        func addLater() async {
            await Task.yield()
            count += 1
        }
    }

    private struct Lost: Error {}

    @Test func `Law 33: children of async let end on an executor of the program's own`() async {
        let report = await search("drained by a task", schedules: 300) { _ in
            let counter = Counter(on: TaskDrainedExecutor())
            async let alice: Void = counter.add()
            async let bob: Void = counter.addLater()
            _ = await (alice, bob)
            if await counter.count != 2 { throw Lost() }
        }
        #expect(report.failure == nil, "\(report)")
    }

    @Test(.withoutThreadSanitizer("it has its own functions for new tasks"))
    func `Law 33: a function whose child ended on such an executor sleeps`() async {
        @Sendable func count(_ counter: Counter) async {
            async let one: Void = counter.add(); await one
        }
        let report = await search("then a sleep", schedules: 300) { sim in
            let counter = Counter(on: TaskDrainedExecutor())
            await count(counter)
            try await sim.clock.sleep(for: .seconds(1))
            if await counter.count != 1 { throw Lost() }
        }
        #expect(report.failure == nil, "\(report)")
    }

    @Test func `Law 33: many tasks that wait in one actor take no long report`() async {
        actor Gate {
            private var waiting: [CheckedContinuation<Void, Never>] = []
            func wait() async { await withCheckedContinuation { waiting.append($0) } }
            func open() {
                for continuation in waiting { continuation.resume() }
                waiting = []
            }
            var count: Int { waiting.count }
        }
        let report = await search("crowd at a gate", schedules: 1, steps: 200_000) { _ in
            let gate = Gate()
            let tasks = (0..<rounds(debug: 1_000, release: 2_000)).map { _ in
                Task { await gate.wait() }
            }
            while await gate.count < tasks.count { await Task.yield() }
            await gate.open()
            for task in tasks { await task.value }
        }
        #expect(report.failure == nil, "\(report)")
    }
}
