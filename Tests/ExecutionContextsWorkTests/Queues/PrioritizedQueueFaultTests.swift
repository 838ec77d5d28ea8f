import ExecutionContexts
import ExecutionContextsTesting
import ExecutionContextsWork
import TestSupport
import Testing

/// A queue over contexts that refuse or drop jobs, and a queue as a context itself.
@Suite(.patient)
struct PrioritizedQueueFaultTests {
    @Test(arguments: Lab.BadBase.Fault.allCases)
    func `Laws 1, 32: a job that the context does not run ends with a refusal and frees its permit`(
        _ fault: Lab.BadBase.Fault
    ) {
        let base = Lab.BadBase(fault)
        let queue = PrioritizedQueue(on: base, limit: 2)
        let works = (0..<100).map { index in queue.submit { index } }
        for _ in 0..<100 { base.dropKept() }
        let reason: Refusal.Reason = fault == .refuses ? .full(capacity: 0) : .abandoned
        for work in works {
            #expect(throws: Refusal(reason, by: "bad")) { try work.async.outcome?.get() }
            #expect(!work.cancel())
        }
        #expect(queue.runningCount == 0)
        #expect(queue.pendingCount == 0)
        base.repair()
        let last = queue.submit { 42 }
        #expect((try? last.async.outcome?.get()) == 42)
    }

    @Test(arguments: [Lab.BadBase.Fault.refuses, .drops])
    func `Law 5: a context that runs no job does not make the stack grow`(
        _ fault: Lab.BadBase.Fault
    ) {
        let queue = PrioritizedQueue(on: Lab.BadBase(fault), limit: 1)
        queue.suspend()
        let works = (0..<50_000).map { index in queue.submit { index } }
        queue.resume()
        #expect(works.allSatisfy { $0.async.isCompleted })
        #expect(queue.runningCount == 0)
    }

    @Test func `Law 32: a plain job that the queue accepted enters a full context`() {
        let manual = ManualContext()
        let queue = PrioritizedQueue(on: manual.bounded(to: 1, overflow: .refuse), limit: 3)
        let ran = Box(0)
        for _ in 0..<5 { queue.execute { ran.withValue { $0 += 1 } } }
        manual.runReady()
        #expect(ran.value == 5)
        #expect(queue.runningCount == 0)
    }

    @Test func `Law 10: a job that the context has dropped is freed`() {
        let queue = PrioritizedQueue(on: Lab.BadBase(.drops), limit: 1)
        weak var capture: Box<Int>?
        do {
            let captured = Box(0)
            capture = captured
            queue.execute { captured.value = 1 }
        }
        #expect(capture == nil)
        #expect(queue.runningCount == 0)
    }

    @Test(arguments: [1, 4])
    func `A queue as a context keeps the laws of contexts`(_ limit: Int) async {
        let queue = PrioritizedQueue(on: .global, limit: limit)
        let breaches = await Laws.check(queue.context(priority: .high), patience: Patience.event)
        #expect(breaches.isEmpty, "\(breaches)")
    }

    @Test func `Law 8: a queue as a context has its base's time, its own name and no barriers`() {
        let manual = ManualContext()
        let context: any ExecutionContext = PrioritizedQueue(on: manual, limit: 1, name: "mail")
            .context()
        let hasRun = Box(false)
        context.schedule(after: .seconds(3)) { hasRun.value = true }
        #expect(context.name == "mail")
        #expect(!(context is any BarrierContext))
        #expect(context.isCurrent == false)
        manual.advance(by: .seconds(2))
        #expect(!hasRun.value)
        manual.advance(by: .seconds(1))
        #expect(hasRun.value)
    }

    @Test
    func `Law 8: a job sees its submitter's task-local values, whichever thread hands it over`() {
        let manual = ManualContext()
        let queue = PrioritizedQueue(on: manual.propagating(Locals.$user), limit: 1)
        let seen = Box<[String]>([])
        for user in ["ann", "ben", "cem"] {
            Locals.$user.withValue(user) {
                queue.execute { seen.withValue { $0.append("plain \(Locals.user)") } }
                queue.submit { seen.withValue { $0.append("answer \(Locals.user)") } }
                queue.submitOpen(of: Int.self) { work in
                    seen.withValue { $0.append("open \(Locals.user)") }
                    work.succeed(1)
                }
            }
        }
        manual.runReady()
        #expect(
            seen.value
                == ["ann", "ben", "cem"].flatMap { ["plain \($0)", "answer \($0)", "open \($0)"] })
    }

    private enum Locals {
        @TaskLocal static var user = "none"
    }
}
