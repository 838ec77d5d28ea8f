import ExecutionContexts
import ExecutionContextsTesting
import Testing

/// The small decorators do what their documentation says.
struct ViewTests {
    @Test func `An observer is notified of each job in order, with the times it waited and ran`() {
        let manual = ManualContext(name: "base")
        let log = Recorder()
        let view = manual.observed(by: log)
        view.execute {}
        manual.advance(by: .seconds(2))
        view.executeBarrier {}
        manual.runReady()
        view.schedule(after: .seconds(3)) {}
        manual.advance(by: .seconds(3))
        #expect(
            log.lines.value == [
                "enqueued 1 on base", "started 1 after 0.0 seconds", "finished 1",
                "enqueued 2 on base", "started 2 after 0.0 seconds", "finished 2",
                "enqueued 3 on base", "started 3 after 0.0 seconds", "finished 3",
            ])
    }

    @Test func `An observer sees in the context's own time how long a job waited`() {
        let manual = ManualContext()
        let log = Recorder()
        let delaying = ClosureContext(name: "held back") { work in
            manual.schedule(after: .seconds(5), work)
        }
        struct Timed: ContextDecorator {
            let base: ClosureContext
            let manual: ManualContext
            var time: any TimeSource { manual.time }
        }
        Timed(base: delaying, manual: manual).observed(by: log).execute {}
        manual.advance(by: .seconds(5))
        #expect(log.lines.value[1] == "started 1 after 5.0 seconds")
    }

    @Test func `Law 1: after invalidation queued jobs are dropped, and callers get a refusal`()
        async throws
    {
        let manual = ManualContext(name: "screen")
        let token = InvalidationToken()
        let view = manual.valid(while: token)
        let ran = Box<[String]>([])
        view.execute { ran.withValue { $0.append("before") } }
        manual.runReady()
        view.execute { ran.withValue { $0.append("waiting") } }
        view.schedule(after: .seconds(1)) { ran.withValue { $0.append("delayed") } }
        let answer = view.submit { "answered" }
        token.invalidate()
        manual.advance(by: .seconds(1))
        #expect(ran.value == ["before"])
        let refusal = await #expect(throws: Refusal.self) { try await answer.get() }
        #expect(refusal?.reason == .invalidated)
        #expect(refusal?.context == "screen")
        #expect(throws: Refusal.self) { try view.tryExecute {} }
    }

    @Test func `A job sees the task-local values of its submitter, also a delayed job`() {
        let manual = ManualContext()
        let view = manual.propagating(Request.$id, Request.$user)
        let seen = Box<[String]>([])
        let note: Work = { seen.withValue { $0.append("\(Request.id) \(Request.user)") } }
        Request.$id.withValue(1) { Request.$user.withValue("Ann") { view.execute(note) } }
        Request.$id.withValue(2) { _ = view.schedule(after: .seconds(1), note) }
        manual.execute(note)
        manual.advance(by: .seconds(1))
        #expect(seen.value == ["1 Ann", "0 none", "2 none"])
    }

    private enum Request {
        @TaskLocal static var id = 0
        @TaskLocal static var user = "none"
    }
}

private final class Recorder: ContextObserver {
    let lines = Box<[String]>([])

    func enqueued(_ job: ObservedWork) { note("enqueued \(job.id) on \(job.context)") }
    func started(_ job: ObservedWork, waited: Duration) {
        note("started \(job.id) after \(waited)")
    }
    func finished(_ job: ObservedWork, waited: Duration, ran: Duration) {
        note("finished \(job.id)")
    }

    private func note(_ line: String) { lines.withValue { $0.append(line) } }
}
