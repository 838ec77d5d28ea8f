import ExecutionContextsTesting
import Foundation
import TestSupport
import Testing

/// The order in which an actor runs what is enqueued on it.
@Suite(.patient, .systemIsSimulated)
struct PlainActorOrderTests {
    private struct Wrong: Error {}

    private actor Log {
        private(set) var entries: [Int] = []

        func add(_ entry: Int) { entries.append(entry) }

        func addInTasks(_ priority: TaskPriority? = nil) -> [Task<Void, Never>] {
            [Task { add(1) }, Task(priority: priority) { add(2) }, Task { add(3) }]
        }
    }

    @MainActor private final class MainLog {
        var entries: [Int] = []
        func addInTasks() -> [Task<Void, Never>] {
            (1...3).map { entry in Task { entries.append(entry) } }
        }
    }

    @Test(arguments: [SimulationStrategy.portfolio, .exhaustive])
    func `Law 33: tasks that a function of an actor starts there begin in their order`(
        strategy: SimulationStrategy
    ) async {
        let report = await search("in order", strategy: strategy, ignoring: [.vacuous]) { _ in
            let log = Log()
            for task in await log.addInTasks() { await task.value }
            if await log.entries != [1, 2, 3] { throw Wrong() }
        }
        #expect(report.failure == nil, "\(report)")
        #expect(report.isComplete == (strategy == .exhaustive), "\(report)")
    }

    @Test func `Law 33: the main actor keeps that order, too`() async {
        let report = await search("main actor", ignoring: [.vacuous]) { _ in
            let log = MainLog()
            for task in await log.addInTasks() { await task.value }
            if await log.entries != [1, 2, 3] { throw Wrong() }
        }
        #expect(report.failure == nil, "\(report)")
    }

    @Test func `Law 33: a task of higher priority may overtake others, and no other one may`() async
    {
        let report = await search("priorities") { _ in
            let log = Log()
            for task in await log.addInTasks(.high) { await task.value }
            let entries = await log.entries
            if entries != [1, 2, 3] && entries != [2, 1, 3] { throw Wrong() }
        }
        #expect(report.failure == nil, "\(report)")
        let overtaking = await search("overtaking") { _ in
            let log = Log()
            for task in await log.addInTasks(.high) { await task.value }
            if await log.entries.first == 2 { throw Wrong() }
        }
        #expect(overtaking.failure?.kind == .threw, "\(overtaking)")
    }

    @Test func `Law 33: tasks that come to an actor from elsewhere come in any order`() async {
        let report = await search("from elsewhere") { _ in
            let log = Log()
            let tasks = [Task { await log.add(1) }, Task { await log.add(2) }]
            for task in tasks { await task.value }
            if await log.entries != [1, 2] { throw Wrong() }
        }
        #expect(report.failure?.kind == .threw, "\(report)")
    }

    @Test func `Law 33: a task may be delayed where it is about to come to an actor`() async {
        let report = await search("late") { _ in
            let log = Log()
            let hasChecked = Box(false)
            let task = Task {
                hasChecked.value = true
                await log.add(1)
            }
            while !hasChecked.value { await Task.yield() }
            await log.add(2)
            await task.value
            if await log.entries == [2, 1] { throw Wrong() }
        }
        #expect(report.failure?.kind == .threw, "\(report)")
    }
}
