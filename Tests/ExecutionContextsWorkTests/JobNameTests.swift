import ExecutionContexts
import ExecutionContextsObservation
import ExecutionContextsTesting
import ExecutionContextsWork
import Testing

/// What observers are told of the jobs that queues, graphs and limiters submit for their users.
struct WorkJobNameTests {
    private let time = ManualTime()
    private let manual: ManualContext
    private let recorder = Recorder()

    init() { manual = ManualContext(name: "manual", time: time) }

    /// The names of the jobs of the observed context.
    private var names: [String] { recorder.jobs.map(\.name) }

    private func at(_ line: UInt) -> String { "JobNameTests.swift:\(line)" }

    @Test func `A job of a queue is shown by its own place`() throws {
        let queue = PrioritizedQueue(on: manual.observed(by: recorder), limit: 1)
        queue.execute {}
        queue.submit { 1 }
        queue.submitOpen(of: Int.self) { $0.succeed(1) }
        queue.context(priority: .high).execute {}
        queue.context(priority: .high).labeled("label").submit {}
        let line: UInt = #line - 5
        try manual.runUntilIdle()
        #expect(Set(names) == Set((0..<4).map { at(line + $0) } + ["label"]))
    }

    @Test func `A job of a graph and a handler are shown by the subscription`() throws {
        let observed = manual.observed(by: recorder)
        let graph = WorkGraph(on: ManualContext(name: "graph", time: time))
        let flights = SingleFlight<String, Int>(name: "size", in: graph) { _, flight in
            flight.succeed(1)
        }
        flights["wren"].subscribe(on: observed) { _ in }
        let line: UInt = #line - 1
        try manual.runUntilIdle()
        #expect(names == [at(line)])
        let other = WorkGraph(on: observed)
        let work = other.work(named: "count") { (flight: Flight<Int>) in flight.succeed(1) }
        let subscription = work.subscribe { _ in }
        let subscribed: UInt = #line - 1
        try manual.runUntilIdle()
        subscription.cancel()
        work.subscribe { _ in }.priority = .high
        try manual.runUntilIdle()
        #expect(
            names == [at(line), at(subscribed), at(subscribed + 4), "new priority"])
    }

    @Test func `A call of a confined value is shown by its own place`() throws {
        let value = Confined(0, to: manual.observed(by: recorder))
        value.perform { $0 += 1 }
        value.submit { $0 }
        let line: UInt = #line - 2
        try manual.runUntilIdle()
        #expect(names == [at(line), at(line + 1)])
    }

    @Test func `A paced call is shown by where it was made`() throws {
        let observed = manual.observed(by: recorder)
        let call = observed.throttled(to: .seconds(1), .latest) { (_: Int) in }
        let line: UInt = #line - 1
        call(1)
        try manual.runUntilIdle()
        #expect(names.allSatisfy { $0 == at(line) } && !names.isEmpty)
    }

    @Test func `A part of a task is named as such`() throws {
        let observed = manual.observed(by: recorder)
        try manual.drive { try await observed.runTask { await Task.yield() } }
        #expect(names.contains("part of a task"))
    }
}
