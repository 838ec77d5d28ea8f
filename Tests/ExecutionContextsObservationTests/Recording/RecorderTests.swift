import Dispatch
import ExecutionContexts
import ExecutionContextsObservation
import ExecutionContextsTesting
import Testing

/// The events and jobs that a recorder keeps, and those that it leaves out.
struct RecorderTests {
    @Test func `The events of a job are recorded in order, in the time of its context`() {
        let recorder = Recorder()
        let manual = ManualContext(name: "base")
        let view = manual.observed(by: recorder)
        view.execute { manual.stall(for: .milliseconds(2)) }
        manual.stall(for: .milliseconds(3))
        manual.runReady()
        #expect(recorder.events.map(\.kind) == [.enqueued, .started, .finished])
        #expect(recorder.events.map(\.instant.nanoseconds) == [0, 3_000_000, 5_000_000])
        #expect(recorder.events.allSatisfy { $0.context == "base" && $0.job.job == 1 })
        let job = recorder.jobs[0]
        #expect(job.waited == .milliseconds(3))
        #expect(job.ran == .milliseconds(2))
        #expect(job.state == .finished)
    }

    @Test func `A recorded job has the state that it has reached`() {
        let recorder = Recorder()
        let manual = ManualContext()
        let view = manual.observed(by: recorder)
        let states = Box<[RecordedJob.State]>([])
        let note: Work = { states.withValue { $0.append(recorder.jobs[0].state) } }
        view.execute(note)
        note()
        manual.runReady()
        note()
        #expect(states.value == [.waiting, .running, .finished])
    }

    @Test
    func `A job that its context drops or refuses is abandoned, and no longer counts as waiting`() {
        let recorder = Recorder()
        let manual = ManualContext()
        let view = ClosureContext(name: "leaky") { _ in }.observed(by: recorder)
        view.execute {}
        #expect(recorder.events.map(\.kind) == [.enqueued, .abandoned])
        #expect(recorder.jobs[0].state == .abandoned)
        #expect(recorder.totals[0].abandoned == 1)
        #expect(recorder.totals[0].waiting == 0)
        let full = manual.bounded(to: 1, overflow: .refuse).observed(by: recorder)
        full.execute {}
        full.execute({}, refused: { _ in })
        #expect(recorder.jobs.map(\.state) == [.abandoned, .waiting, .abandoned])
        manual.runReady()
        #expect(recorder.jobs[1].state == .finished)
    }

    @Test func `Law 11: a recorder keeps the latest events, and counts the overwritten ones`() {
        let recorder = Recorder(capacity: 10)
        let view = ImmediateContext().observed(by: recorder)
        for _ in 0..<7 { view.execute {} }
        #expect(recorder.events.count == 10)
        #expect(recorder.overwritten == 11)
        #expect(recorder.events.map(\.job.job) == [4, 5, 5, 5, 6, 6, 6, 7, 7, 7])
        // The last event of the fourth job holds all facts of the job.
        #expect(recorder.jobs.map(\.state) == Array(repeating: .finished, count: 4))
        #expect(recorder.jobs[0].waited != nil)
    }

    @Test func `Law 11: endlessly many names do not fill the memory`() {
        let recorder = Recorder(capacity: 20_000)
        for number in 0..<5500 {
            ImmediateContext().named("name \(number)").observed(by: recorder).execute {}
        }
        let totals = recorder.totals
        #expect(totals.count == 4001)
        #expect(totals.first { $0.context == "(others)" }?.count == 1500)
    }

    @Test func `A paused recorder records nothing until it is resumed`() {
        let recorder = Recorder()
        let manual = ManualContext()
        let view = manual.observed(by: recorder)
        recorder.pause()
        #expect(recorder.isPaused)
        view.execute {}
        manual.stall(for: .seconds(1))
        #expect(recorder.events.isEmpty)
        recorder.resume()
        manual.runReady()
        #expect(recorder.events.isEmpty)
        // A job that was submitted before a pause is recorded again after it.
        view.execute {}
        recorder.pause()
        manual.stall(for: .seconds(1))
        recorder.resume()
        manual.runReady()
        #expect(recorder.events.map(\.kind) == [.enqueued, .started, .finished])
        #expect(recorder.jobs[0].waited == .seconds(1))
        recorder.clear()
        #expect(recorder.events.isEmpty)
        #expect(recorder.capacity == 65_536)
    }

    @Test func `No event is lost when eight threads report at a time`() async {
        let recorder = Recorder(capacity: 60_000)
        let view = ImmediateContext().named("shared").observed(by: recorder)
        await offThePool {
            onThreads(8) { for _ in 0..<2000 { view.execute {} } }
        }
        #expect(recorder.events.count == 48_000)
        #expect(recorder.overwritten == 0)
        let totals = recorder.totals
        #expect(totals.map(\.count) == [16_000])
        #expect(totals[0].waiting == 0 && totals[0].running == 0)
        #expect(Set(recorder.jobs.map(\.id.job)) == Set(1...16_000))
    }

    @Test func `A recorder can be read while other threads report`() async {
        let recorder = Recorder(capacity: 100)
        let view = ImmediateContext().observed(by: recorder)
        await offThePool {
            let records: Work = { for _ in 0..<500 { view.execute {} } }
            onThreads([
                { for _ in 0..<50 { #expect(recorder.events.count <= 100) } },
                { recorder.clear() }, records, records,
            ])
        }
        #expect(recorder.events.count <= 100)
    }

    @Test func `Contexts with one name share a lane only if they share a time source`() {
        let recorder = Recorder()
        let time = ManualTime()
        let first = ManualContext(name: "twin", time: time)
        let second = ManualContext(name: "twin", time: time)
        let elsewhere = ManualContext(name: "twin")
        for context in [first, second, elsewhere] {
            let view = context.observed(by: recorder)
            view.execute {}
            context.runReady()
        }
        #expect(recorder.totals.map(\.count) == [2, 1])
    }

    @Test func `Virtual and system time in one recorder each have an origin of their own`() throws {
        let recorder = Recorder()
        let manual = ManualContext(name: "virtual")
        let virtual = manual.observed(by: recorder)
        let real = ImmediateContext().named("real").observed(by: recorder)
        manual.advance(by: .seconds(1000))
        // From one time source to the other: the submitter is known, but no arrow is drawn.
        virtual.execute { real.execute {} }
        manual.runReady()
        let jobs = recorder.jobs
        #expect(jobs[0].enqueued == ContextInstant(nanoseconds: 1_000_000_000_000))
        #expect(jobs[1].submitter == jobs[0].id)
        let events = try Trace(recorder).complete
        #expect(events.map(\.ts).min() == 0)
        // Less than a minute, although the two clocks are hours apart.
        #expect(events.allSatisfy { $0.ts < 60_000_000 })
        #expect(Set(events.map(\.pid)).count == 2)
        #expect(try Trace(recorder).flows.isEmpty)
        #expect(recorder.timelineHTML().contains("2 time sources, each with its own origin"))
    }
}
