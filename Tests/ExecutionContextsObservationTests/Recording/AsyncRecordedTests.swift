import ExecutionContexts
import ExecutionContextsObservation
import ExecutionContextsTesting
import Testing

/// Futures that report to a recorder.
struct AsyncRecordedTests {
    @Test
    func
        `A recorded future reports when it was made, how long it took, and which job completed it`()
    {
        let recorder = Recorder()
        let manual = ManualContext(name: "worker")
        let worker = manual.observed(by: recorder)
        let promise = Promise<Int>()
        let value = promise.async.recorded(by: recorder, as: "birds", time: manual.time)
        #expect(recorder.jobs.map(\.state) == [.running])
        manual.advance(by: .seconds(2))
        worker.execute { promise.succeed(3) }
        manual.runReady()
        #expect((try? value.outcome?.get()) == 3)
        let job = recorder.jobs[0]
        #expect(job.isAsync && job.context == "birds" && job.state == .finished)
        #expect(job.ran == .seconds(2))
        #expect(job.completer == recorder.jobs[1].id)
        #expect(recorder.totals.map(\.isAsync) == [true, false])
    }

    @Test func `The job that records a future is its submitter, and callbacks run after the end`() {
        let recorder = Recorder()
        let caller = ImmediateContext().named("caller").observed(by: recorder)
        let promise = Promise<Void>()
        let states = Box<[RecordedJob.State]>([])
        caller.execute {
            promise.async.recorded(by: recorder, as: "value").onComplete { _ in
                states.withValue { $0.append(recorder.jobs[1].state) }
            }
        }
        #expect(recorder.jobs[1].submitter == recorder.jobs[0].id)
        promise.fail(CancellationError())
        #expect(states.value == [.finished])
        #expect(recorder.jobs[1].completer == nil)
    }

    @Test func `Law 26: cancelling a recorded future ends it and its otherwise unused source`() {
        let recorder = Recorder()
        let promise = Promise<Void>()
        let value = promise.async.recorded(by: recorder, as: "value")
        #expect(value.cancel())
        #expect(promise.async.isCompleted)
        #expect(recorder.events.map(\.kind) == [.started, .finished])
    }

    @Test func `Law 26: recording alone is no interest`() {
        let recorder = Recorder()
        let promise = Promise<Void>()
        let recorded = promise.async.recorded(by: recorder, as: "value")
        let derived = recorded.map { _ in 1 }
        derived.cancel()
        #expect(recorded.isCompleted && promise.async.isCompleted)
        #expect(recorder.jobs.map(\.state) == [.finished])
    }

    @Test func `A future that has completed before it is recorded is reported as well`() {
        let recorder = Recorder()
        let value = Async(.success(7)).recorded(by: recorder, as: "value")
        #expect((try? value.outcome?.get()) == 7)
        #expect(recorder.jobs.map(\.state) == [.finished])
    }

    @Test func `Several futures of one name share a lane`() {
        let recorder = Recorder()
        let promises = (0..<5).map { _ in Promise<Int>() }
        let all = promises.map { $0.async.recorded(by: recorder, as: "load") }
        for promise in promises { promise.succeed(1) }
        #expect(all.allSatisfy { $0.isCompleted })
        #expect(recorder.totals.map(\.count) == [5])
        #expect(Set(recorder.jobs.map(\.id)).count == 5)
    }
}
