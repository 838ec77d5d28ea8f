import ExecutionContexts
import ExecutionContextsTesting
import Testing

/// An `Async` that reports to a recorder.
struct AsyncRecordedTests {
    @Test func `It reports when it was made, how long it took, and which piece completed it`() {
        let recorder = Recorder()
        let manual = ManualContext(name: "worker")
        let worker = manual.observed(by: recorder)
        let promise = Promise<Int>()
        let value = promise.async.recorded(by: recorder, as: "birds", time: manual.time)
        #expect(recorder.pieces.map(\.state) == [.running])
        manual.advance(by: .seconds(2))
        worker.execute { promise.succeed(3) }
        manual.runReady()
        #expect((try? value.outcome?.get()) == 3)
        let piece = recorder.pieces[0]
        #expect(piece.isAsync && piece.context == "birds" && piece.state == .finished)
        #expect(piece.ran == .seconds(2))
        #expect(piece.completer == recorder.pieces[1].id)
        #expect(recorder.totals.map(\.isAsync) == [true, false])
    }

    @Test func `It was made by the piece that recorded it, and its callbacks come after its end`() {
        let recorder = Recorder()
        let caller = ImmediateContext().named("caller").observed(by: recorder)
        let promise = Promise<Void>()
        let states = Box<[RecordedPiece.State]>([])
        caller.execute {
            promise.async.recorded(by: recorder, as: "value").onComplete { _ in
                states.withValue { $0.append(recorder.pieces[1].state) }
            }
        }
        #expect(recorder.pieces[1].submitter == recorder.pieces[0].id)
        promise.fail(CancellationError())
        #expect(states.value == [.finished])
        #expect(recorder.pieces[1].completer == nil)
    }

    @Test func `Law 26: cancelling it is its end, and cancels what nobody else wants`() {
        let recorder = Recorder()
        let promise = Promise<Void>()
        let value = promise.async.recorded(by: recorder, as: "value")
        #expect(value.cancel())
        #expect(promise.async.isCompleted)
        #expect(recorder.events.map(\.kind) == [.started, .finished])
    }

    @Test func `Law 26: recording alone wants nothing`() {
        let recorder = Recorder()
        let promise = Promise<Void>()
        let recorded = promise.async.recorded(by: recorder, as: "value")
        let derived = recorded.map { _ in 1 }
        derived.cancel()
        #expect(recorded.isCompleted && promise.async.isCompleted)
        #expect(recorder.pieces.map(\.state) == [.finished])
    }

    @Test func `One that has ended already is reported as well`() {
        let recorder = Recorder()
        let value = Async(.success(7)).recorded(by: recorder, as: "value")
        #expect((try? value.outcome?.get()) == 7)
        #expect(recorder.pieces.map(\.state) == [.finished])
    }

    @Test func `Several of one name have a lane together`() {
        let recorder = Recorder()
        let promises = (0..<5).map { _ in Promise<Int>() }
        let all = promises.map { $0.async.recorded(by: recorder, as: "load") }
        for promise in promises { promise.succeed(1) }
        #expect(all.allSatisfy { $0.isCompleted })
        #expect(recorder.totals.map(\.count) == [5])
        #expect(Set(recorder.pieces.map(\.id)).count == 5)
    }
}
