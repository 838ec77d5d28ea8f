import ExecutionContexts
import ExecutionContextsTesting
import TestSupport
import Testing

struct RecordingContextTests {
    let manual = ManualContext(name: "base")
    let recorder = WorkRecorder()

    @Test func `It records which jobs were submitted and which started, in order`() {
        let context = RecordingContext(manual, into: recorder)
        context.execute {}
        context.executeBarrier {}
        context.schedule(after: .seconds(1)) {}
        #expect(recorder.submitted.map(\.kind) == [.execute, .barrier])
        #expect(recorder.started.isEmpty)
        manual.step()
        #expect(recorder.started.map(\.number) == [1])
        manual.advance(by: .seconds(1))
        #expect(recorder.submitted.map(\.kind) == [.execute, .barrier, .enqueue])
        #expect(recorder.started.map(\.number) == [1, 2, 3])
        #expect(recorder.started.map(\.context) == ["base", "base", "base"])
        #expect(recorder.started.last?.finished == ContextInstant(nanoseconds: 1_000_000_000))
    }

    @Test func `It records delays with their source location, and whether they were cancelled`() {
        let context = RecordingContext(manual, into: recorder)
        context.serial(named: "view").schedule(after: .seconds(1)) {}
        let line = #line - 1
        context.schedule(after: .seconds(2)) {}.cancel()
        #expect(recorder.delays.map(\.context) == ["view", "base"])
        #expect(recorder.delays.map(\.isCancelled) == [false, true])
        #expect(
            recorder.delays[0].sourceLocation?.hasSuffix("/RecordingContextTests.swift:\(line)")
                == true)
        #expect(recorder.delays[0].deadline == ContextInstant(nanoseconds: 1_000_000_000))
        manual.advance(by: .seconds(2))
        #expect(recorder.delays.map(\.isCancelled) == [false, true])
    }

    @Test func `Several contexts write into one recorder, in one order`() {
        let time = ManualTime()
        let contexts = ["disk", "main"].map {
            RecordingContext(ManualContext(name: $0, time: time), into: recorder)
        }
        contexts[0].execute { contexts[1].execute {} }
        contexts[0].execute {}
        time.runReady()
        #expect(recorder.started.map(\.context) == ["disk", "disk", "main"])
    }

    @Test func `A job that never started is not among the started ones`() async throws {
        let context = RecordingContext(manual, into: recorder)
        context.submit { 1 }.cancel()
        context.execute {}
        #expect(recorder.submitted.count == 2)
        manual.step()
        #expect(recorder.started.count == 1)
        #expect(recorder.submitted.last?.started == nil)
    }

    @Test func `Law 8: it keeps the capabilities of its base`() async {
        let queue = RecordingContext(SerialQueueContext(name: "queue"), into: recorder)
        #expect(queue.sync { queue.isCurrent } == true)
        #expect(recorder.submitted.map(\.kind) == [.sync])
        #expect(queue.name == "queue")
        let full = RecordingContext(manual, into: recorder).bounded(to: 1, overflow: .refuse)
        #expect(throws: Never.self) { try full.tryExecute {} }
        #expect(throws: Refusal.self) { try full.tryExecute {} }
    }

    @Test func `It keeps every law over every kind of base`() async {
        // Other tests may keep the threads of the pool busy for long.
        let serial = await Laws.check(
            RecordingContext(SerialQueueContext(name: "recorded")), patience: Patience.event)
        #expect(serial.isEmpty, "\(serial)")
        let barrier = await Laws.check(
            RecordingContext(BarrierQueueContext(name: "recorded")), patience: Patience.event)
        #expect(barrier.isEmpty, "\(barrier)")
        let global = await Laws.check(RecordingContext(GlobalContext()), patience: Patience.event)
        #expect(global.isEmpty, "\(global)")
        let context = RecordingContext(manual, into: recorder)
        let driven = await Laws.check(
            context, patience: Patience.event,
            drive: { [manual] in manual.advance(by: .milliseconds(1)) }
        )
        #expect(driven.isEmpty, "\(driven)")
    }
}
