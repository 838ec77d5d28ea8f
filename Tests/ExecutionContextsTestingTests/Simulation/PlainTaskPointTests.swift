import ExecutionContexts
import ExecutionContextsTesting
import Foundation
import Synchronization
import TestSupport
import Testing

/// A new task may run before its creator goes on, also while that holds a lock of the system.
@Suite(.patient, .systemIsSimulated)
struct PlainTaskPointTests {
    private struct Wrong: Error {}

    @Test func `Law 33: a task may run before, between and after what its creator does next`() async
    {
        let found = Locked<Set<[Bool]>>([])
        let report = await search("cancelled later", schedules: 100, ignoring: [.vacuous]) { _ in
            let task = Task { () -> Bool in
                let isCancelled = Task.isCancelled
                return isCancelled
            }
            task.cancel()
            let isCancelled = await task.value
            found.withLock { _ = $0.insert([isCancelled]) }
        }
        #expect(report.failure == nil, "\(report)")
        #expect(found.withLock { $0 } == [[true], [false]])
    }

    private final class Loader: Sendable {
        private let state = Mutex<(task: Task<Void, Never>?, loads: Int)>((nil, 0))

        func load(startsInside: Bool) {
            if startsInside {
                state.withLock { $0.task = Task { self.didLoad() } }
            } else {
                let task = Task { self.didLoad() }
                state.withLock { $0.task = task }
            }
        }

        private func didLoad() {
            state.withLock {
                $0.loads += 1
                $0.task = nil
            }
        }

        var isLoading: Bool { state.withLock { $0.task != nil } }
        var loads: Int { state.withLock { $0.loads } }
    }

    @Test(arguments: [false, true])
    func `Law 33: a handle that is stored after its task has ended is found`(isMended: Bool) async {
        let report = await search("stored too late", schedules: 2_000) { _ in
            let loader = Loader()
            loader.load(startsInside: isMended)
            while loader.loads == 0 { await Task.yield() }
            await Task.yield()
            if loader.isLoading { throw Wrong() }
        }
        #expect((report.failure?.kind == .threw) == !isMended, "\(report)")
        #expect((report.failure == nil) == isMended, "\(report)")
    }

    @Test func `Law 33: a lock of Foundation is waited for in the simulation`() async {
        let report = await search("NSLock", schedules: 500) { _ in
            let lock = NSLock()
            let count = Tracked(0, name: "count")
            await withTaskGroup { group in
                for _ in 0..<3 {
                    group.addTask {
                        lock.withLock {
                            let old = count.value
                            count.value = old + 1
                        }
                    }
                }
            }
            if count.value != 3 { throw Wrong() }
        }
        #expect(report.failure == nil, "\(report)")
    }

    private final class Transfers: Sendable {
        private let one = Mutex(())
        private let other = NSLock()
        private let step = Tracked(0, name: "step")

        func there() {
            one.withLock { _ in
                _ = step.value
                other.withLock {}
            }
        }

        func back() {
            other.withLock {
                _ = step.value
                one.withLock { _ in }
            }
        }
    }

    @Test func `Law 33: locks of the system that are taken in opposite orders are a deadlock`()
        async
    {
        let report = await search("two mutexes", schedules: 500) { _ in
            let transfers = Transfers()
            async let first: Void = transfers.there()
            async let second: Void = transfers.back()
            _ = await (first, second)
        }
        #expect(report.failure?.kind == .deadlock, "\(report)")
        #expect(report.failure?.happened.contains("a lock of the system, which") == true)
        print(report)
    }

    @Test func `Law 33: tasks that are created in cancellation handlers are simulated`() async {
        let report = await search("handlers", schedules: 500) { _ in
            let done = Locked(0)
            let task = Task {
                await withTaskCancellationHandler {
                    async let child: Void = Task.yield()
                    await withTaskGroup { group in for _ in 0..<3 { group.addTask {} } }
                    await child
                } onCancel: {
                    Task { done.withLock { $0 += 1 } }
                    Task { done.withLock { $0 += 1 } }
                }
            }
            Task { task.cancel() }
            task.cancel()
            await task.value
        }
        #expect(report.failure == nil, "\(report)")
    }

    @Test func `Law 33: a child of async let may begin at once`() async {
        struct First: Error {}
        let report = await search("async let") { _ in
            let count = Locked(0)
            async let seen = count.withLock { $0 }
            count.withLock { $0 = 1 }
            if await seen == 0 { throw First() }
        }
        #expect(report.failure?.switches == 1, "\(report)")
    }
}
