import ExecutionContexts
import ExecutionContextsTesting
import TestSupport
import Testing

/// What an observer is told of a job beyond its times: its error, its priority and its depth.
@Suite(.patient)
struct ObserverTests {
    private struct Oops: Error {}

    @Test func `An observer is told of the errors that bodies throw to their callers`() async {
        let log = Ends()
        let queue = SerialQueueContext(name: "queue").observed(by: log)
        _ = try? await queue.run { throw Oops() }
        _ = try? await queue.submit { throw Oops() }.get()
        _ = try? await queue.run {}
        queue.executeBarrier {}
        _ = try? await queue.runTask { throw Oops() }
        _ = try? await queue.run {}
        #expect(log.ends.value.prefix(4) == ["Oops()", "Oops()", "ended", "ended"])
        #expect(log.ends.value.dropFirst(4).allSatisfy { $0 == "ended" })
    }

    @Test func `An observer is told of the errors of sync and syncBarrier`() {
        let log = Ends()
        let section = CriticalSection(name: "section").observed(by: log)
        _ = try? section.sync { throw Oops() }
        section.sync {}
        let coordinator = ReadWriteCoordinator(name: "coordinator").observed(by: log)
        _ = try? coordinator.blockingWrite { throw Oops() }
        _ = try? coordinator.writing.syncBarrier { throw Oops() }
        #expect(log.ends.value == ["Oops()", "ended", "Oops()", "Oops()"])
    }

    @Test func `An error counts for the job itself, not for one that it runs inside of`() throws {
        let log = Ends()
        let manual = ManualContext()
        let base = manual.observed(by: log)
        let view = base.serial()
        let failed = view.submit { throw Oops() }
        manual.runReady()
        #expect(throws: Oops.self) { try failed.wait() }
        // The drain of the view has not failed.
        #expect(log.ends.value == ["ended"])
        let outer = base.submit { _ = try? ImmediateContext().submit { throw Oops() }.wait() }
        manual.runReady()
        try outer.wait()
        #expect(log.ends.value == ["ended", "ended"])
        let section = CriticalSection()
        let inside = base.exclusive(section).named("named").submit { throw Oops() }
        manual.runReady()
        #expect(throws: Oops.self) { try inside.wait() }
        #expect(log.ends.value == ["ended", "ended", "Oops()"])
    }

    @Test func `Each observer of a job is told of its error`() throws {
        let (inner, outer) = (Ends(), Ends())
        let manual = ManualContext()
        let view = manual.observed(by: inner).intercepted { $0() }.observed(by: outer)
        let failed = view.submit { throw Oops() }
        manual.runReady()
        #expect(throws: Oops.self) { try failed.wait() }
        #expect(inner.ends.value == ["Oops()"])
        #expect(outer.ends.value == ["Oops()"])
    }

    @Test func `A job knows how many jobs waited when it was submitted`() {
        let log = Ends()
        let manual = ManualContext()
        let view = manual.observed(by: log)
        for _ in 0..<3 { view.execute {} }
        manual.runReady()
        view.execute { view.execute {} }
        manual.runReady()
        #expect(log.depths.value == [1, 2, 3, 1, 1])
        // Jobs that are abandoned wait no more.
        let dropping = ClosureContext { _ in }.observed(by: log)
        for _ in 0..<2 { dropping.execute {} }
        #expect(log.depths.value.suffix(2) == [1, 1])
    }

    @Test func `A job knows the priority of the task that submitted it`() async {
        let log = Ends()
        let view = ImmediateContext().observed(by: log)
        await Task(priority: .low) { view.execute {} }.value
        await Task(priority: .high) { view.execute {} }.value
        let priorities = log.priorities.value
        // The task that waits may have raised the first one.
        #expect(priorities[0] != nil)
        #expect(priorities[1] == .high)
        onThreads(1) { _ in view.execute {} }
        #expect(log.priorities.value[2] == nil)
    }
}

private final class Ends: ContextObserver {
    let ends = Box<[String]>([])
    let depths = Box<[Int]>([])
    let priorities = Box<[TaskPriority?]>([])

    func enqueued(_ job: ObservedWork) {
        depths.withValue { $0.append(job.depth) }
        priorities.withValue { $0.append(job.priority) }
    }

    func finished(_ job: ObservedWork, waited: Duration, ran: Duration) {
        ends.withValue { $0.append("ended") }
    }

    func failed(_ job: ObservedWork, waited: Duration, ran: Duration, error: any Error) {
        ends.withValue { $0.append("\(error)") }
    }
}
