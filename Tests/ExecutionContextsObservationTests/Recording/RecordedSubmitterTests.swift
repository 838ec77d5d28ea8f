import Dispatch
import ExecutionContexts
import ExecutionContextsObservation
import ExecutionContextsTesting
import Testing

/// Submitters: a recorded job knows the observed job that submitted it.
struct RecordedSubmitterTests {
    /// Returns the submitters of all jobs, as `context #number <- context #number`.
    private func submissions(_ recorder: Recorder) -> [String] {
        let jobs = recorder.jobs
        let names = Dictionary(
            uniqueKeysWithValues: jobs.map { ($0.id, "\($0.context) #\($0.id.job)") })
        return jobs.map { "\(names[$0.id]!) <- \($0.submitter.map { names[$0] ?? "?" } ?? "none")" }
    }

    @Test func `A job knows its submitter, over several contexts`() throws {
        let recorder = Recorder()
        let time = ManualTime()
        let a = ManualContext(name: "a", time: time).observed(by: recorder)
        let b = ManualContext(name: "b", time: time).observed(by: recorder)
        a.execute { b.execute { a.execute {} } }
        a.execute { a.execute {} }
        try time.runUntilIdle()
        #expect(
            submissions(recorder) == [
                "a #1 <- none", "a #2 <- none", "b #1 <- a #1", "a #3 <- a #2", "a #4 <- b #1",
            ])
    }

    @Test func `A nested job is the submitter while it runs, and after it the outer job is`() {
        let recorder = Recorder()
        let outer = ImmediateContext().named("outer").observed(by: recorder)
        let inner = ImmediateContext().named("inner").observed(by: recorder)
        let leaf = ImmediateContext().named("leaf").observed(by: recorder)
        outer.execute {
            inner.execute { leaf.execute {} }
            leaf.execute {}
        }
        leaf.execute {}
        #expect(
            submissions(recorder) == [
                "outer #1 <- none", "inner #1 <- outer #1", "leaf #1 <- inner #1",
                "leaf #2 <- outer #1",
                "leaf #3 <- none",
            ])
    }

    @Test func `A job submitted by an unobserved job of another thread has no submitter`() async {
        let recorder = Recorder()
        let leaf = ImmediateContext().named("leaf").observed(by: recorder)
        let queue = DispatchQueue(label: "unseen")
        let start = ImmediateContext().named("start").observed(by: recorder)
        await withCheckedContinuation { done in
            start.execute {
                queue.async {
                    leaf.execute {}
                    done.resume()
                }
            }
        }
        #expect(submissions(recorder) == ["start #1 <- none", "leaf #1 <- none"])
    }

    @Test func `The submitter of a sync body is the job that waits for it, also through a view`()
        async
    {
        let recorder = Recorder()
        let view = GlobalContext().serial(named: "view").observed(by: recorder)
        let section = CriticalSection(name: "section").observed(by: recorder)
        await offThePool {
            let done = DispatchSemaphore(value: 0)
            view.execute {
                section.sync { section.execute {} }
                done.signal()
            }
            done.wait()
        }
        #expect(
            submissions(recorder) == [
                "view #1 <- none", "section #1 <- view #1", "section #2 <- section #1",
            ])
    }

    @Test func `A coordinator reports its reads and writes, and their submitters`() async {
        let recorder = Recorder()
        let coordinator = ReadWriteCoordinator(name: "state", writesOn: .immediate).observed(
            by: recorder)
        await offThePool {
            coordinator.read { coordinator.enqueueWrite {} }
            #expect(coordinator.blockingWrite { coordinator.read { 5 } } == 5)
            coordinator.reading.execute {}
            coordinator.writing.sync {}
        }
        #expect(
            submissions(recorder) == [
                "state.reading #1 <- none", "state.writing #1 <- state.reading #1",
                "state.writing #2 <- none", "state.reading #2 <- state.writing #2",
                "state.reading #3 <- none", "state.writing #3 <- none",
            ])
        #expect(recorder.jobs.allSatisfy { $0.state == .finished })
    }

    @Test func `A wait for a section is recorded, with the job that was inside`() async {
        let recorder = Recorder()
        let section = CriticalSection(name: "section").observed(by: recorder)
        await offThePool {
            let isInside = DispatchSemaphore(value: 0)
            onThreads([
                {
                    section.sync {
                        isInside.signal()
                        // Until the other job has been recorded as waiting.
                        while recorder.jobs.count < 2 {}
                    }
                },
                {
                    isInside.wait()
                    section.sync {}
                },
            ])
        }
        #expect(recorder.jobs.map { $0.behind?.job } == [nil, 1])
    }

    @Test func `A hold is recorded as a job from its call to its release`() {
        let recorder = Recorder()
        let view = SerialQueueContext(name: "queue").observed(by: recorder)
        let hold = view.hold()
        #expect(recorder.jobs.map(\.state) == [.running])
        hold.release()
        #expect(recorder.jobs.map(\.state) == [.finished])
    }
}
