import ExecutionContexts
import ExecutionContextsTesting
import Foundation
import TestSupport
import Testing

/// Where the tasks of a simulation meet statics, contexts, many others, and other searches.
@Suite(.patient)
struct PlainTaskEdgeTests {
    private struct Wrong: Error {}
    @globalActor private actor Shop { static let shared = Shop() }

    @Test func `Law 33: searches side by side begin tasks on one actor`() async {
        await withTaskGroup { group in
            for number in 0..<4 {
                group.addTask {
                    await expectNoFailure("shop \(number)") { _ in
                        await Task { @Shop in await Task.yield() }.value
                        await Task { @MainActor in Task {} }.value.value
                    }
                }
            }
        }
    }

    private enum Slow {
        static let value: Int = {
            Thread.sleep(forTimeInterval: 0.01)
            return 7
        }()
    }

    @Test func `Law 33: a static variable sleeps while it is made`() async {
        await expectNoFailure("static") { _ in
            async let one = Slow.value
            async let two = Slow.value
            if await one + two != 14 { throw Wrong() }
        }
    }

    private actor Worker {
        private var waiting: CheckedContinuation<Void, Never>?
        func prepare() {}
        func wait() async { await withCheckedContinuation { waiting = $0 } }
        func signal() {
            waiting?.resume()
            waiting = nil
        }
    }

    @Test func `Law 33: a task has the name of an actor`() async {
        let report = await search("names") { _ in
            let worker = Worker()
            await worker.prepare()
            Task(name: "Worker") { await worker.wait() }
            Task(name: "other") { await worker.signal() }
        }
        #expect(report.failure?.kind == .lostWakeUp, "\(report)")
        #expect(report.failure?.token != nil)
    }

    @Test func `Law 33: tasks that find no thread are reported`() {
        let report = search("spawned", schedules: 10) { sim in
            for number in 0..<62 { sim.spawn("thread \(number)") {} }
            sim.task("task") { throw Wrong() }
        }
        #expect(report.failure?.kind == .misuse, "\(report)")
    }

    @Test func `Law 33: more tasks than threads use a concurrent context`() async {
        await expectNoFailure("many", schedules: 20) { sim in
            await withTaskGroup { group in
                for _ in 0..<45 { group.addTask { try? await Task.sleep(for: .seconds(1)) } }
                for _ in 0..<30 {
                    group.addTask {
                        await withCheckedContinuation { continuation in
                            sim.global.execute { continuation.resume() }
                        }
                    }
                }
            }
        }
    }

    @Test func `Law 33: a loop of sleeps that goes on after its cancel is endless`() async {
        let report = await search("heartbeat", schedules: 2, steps: 500) { _ in
            let heartbeat = Task(name: "heartbeat") {
                while true { try? await Task.sleep(for: .seconds(1)) }
            }
            try await Task.sleep(for: .seconds(10))
            heartbeat.cancel()
        }
        #expect(report.failure?.kind == .endless, "\(report)")
    }

    @Test func `Law 33: a search ends when its task is cancelled`() async {
        let hasBegun = Locked(false)
        let task = Task {
            await search("cancelled", schedules: 10_000_000, ignoring: [.vacuous]) { _ in
                hasBegun.withLock { $0 = true }
                await Task.yield()
            }
        }
        while !hasBegun.withLock({ $0 }) { await Task.yield() }
        task.cancel()
        let report = await task.value
        #expect(report.failure == nil)
        #expect(report.schedules < 10_000_000)
    }

    @MainActor
    @Test func `Law 33: a closure has the actor of the test`() async throws {
        var count = 0
        try await withDeterministicTasks(ignoring: [.lostWakeUp]) {
            count += 1
            Task { for await _ in AsyncStream<Int>.makeStream().stream {} }
            await Task.yield()
        }
        #expect(count == 1)
    }
}
